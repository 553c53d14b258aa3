"""The answer that a task's rules give without any model: what a server falls back on.

Only the address task has rules. Knows nothing of why no model answers.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import Any

from copydesk.drafting.rules.answer import RuleAnswer
from copydesk.drafting.rules.draft import draft
from copydesk.types import Answer, Json, Task, Usage

NAME = "rules"
"""Stands in the answer for the model, the engine and who drafted it."""
_TOP = frozenset({"type", "properties", "required", "additionalProperties", "minProperties", "maxProperties"})
_FIELD = frozenset({"type", "enum", "const", "minLength", "maxLength", "grounded"})
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "$comment", "$schema", "$id"})
_MOST_BRANCHES = 16


def rules_answer(text: str, task: Task) -> Answer[Json] | None:
    """The record as the rules read it, `verified` False; it satisfies the task's schema, or there is none.

    Values of which the rules are not sure are `""`, or their best guess where the schema wants text. None for tasks
    without rules, and for schemas that none of this satisfies or that say more than can be checked at once (patterns,
    references).
    """
    started = time.perf_counter()
    if task.name != "address" or not task.builtin or task.schema is None or not _is_plain(task.schema.json):
        return None
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(task.schema.json)
    guess = draft(text, list(task.schema.json["properties"]))
    found = next((one for one in (guess.certain(), guess) if validator.is_valid(dict(one.values))), None)
    return None if found is None else _answer(found, (time.perf_counter() - started) * 1e3)


def _answer(found: RuleAnswer, ms: float) -> Answer[Json]:
    return Answer(
        value=dict(found.values),
        fields=found.fields,
        confidence=math.prod(field.confidence or 0.0 for field in found.fields.values()),
        verified=False,
        draft=NAME,
        accepted=None,
        passes=0,
        model=NAME,
        engine=NAME,
        usage=Usage(0, 0, 0),
        ms=ms,
    )


def _is_plain(schema: Json) -> bool:
    """Whether checking a value takes a moment whoever wrote the schema: no patterns, no references, nothing nested."""
    try:
        json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        return False
    properties = schema.get("properties")
    if set(schema) - _TOP - _ANNOTATIONS or not isinstance(properties, Mapping):
        return False
    return _is_schema({**schema, "properties": {}}) and all(map(_is_plain_field, properties.values()))


def _is_plain_field(field: Any) -> bool:
    if not isinstance(field, Mapping):
        return False
    branches = field.get("anyOf", ())
    if not isinstance(branches, list | tuple) or len(branches) > _MOST_BRANCHES:
        return False
    inner = all(isinstance(branch, Mapping) and not set(branch) - _FIELD - _ANNOTATIONS for branch in branches)
    return inner and not set(field) - _FIELD - _ANNOTATIONS - {"anyOf"} and _is_schema(field)


def _is_schema(schema: Any) -> bool:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)
