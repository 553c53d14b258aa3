"""How a schema or a label set becomes a task: which built-in task it is, or an instruction derived from it.

Knows no tokens and no grammar; whether a schema can be honoured is the desk's business.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from copydesk.errors import SchemaError, UsageError
from copydesk.tasks.builtin import ADDRESS_FIELDS, AGNEWS_LABELS, address, agnews
from copydesk.tasks.class_schema import class_schema
from copydesk.tasks.examples import checked_examples
from copydesk.tasks.named_prompts import instruction
from copydesk.types import Json, PromptName, Schema, Task

_ANNOTATIONS = frozenset({"type", "title", "description", "default", "examples", "grounded", "$comment"})


def extraction(
    schema: Json | type[BaseModel] | Schema,
    *,
    prompt: PromptName = "short",
    examples: Sequence[tuple[str, Any]] = (),
) -> Task:
    """The task of filling `schema`: a JSON Schema as a dict, a pydantic class, or a `Schema`.

    A schema over the address task's fields is that task, with the caller's own key order and constraints. `prompt` and
    `examples` as `prompted` has them. Errors: `SchemaError` (`invalid_schema`) for what is no schema, `UsageError`.
    """
    read = _read(schema)
    properties = _properties(read.json)
    if _is_address(properties):
        task = address(tuple(properties), read)
    else:
        task = Task(str(read.json.get("title") or "extraction"), instruction="", schema=read)
        task = replace(task, instruction=instruction(task, "short"))
    return prompted(task, prompt, examples)


def classification(
    labels: Sequence[str], *, prompt: PromptName = "short", examples: Sequence[tuple[str, str]] = ()
) -> Task:
    """The task of choosing one of `labels`, at least two, different by more than spaces around them, none blank.

    `prompt` and `examples` as `prompted` has them. Errors: `SchemaError` (`invalid_labels`), `UsageError`.
    """
    # A set's order, and with it the prompt, would be another in every process.
    listed = isinstance(labels, Sequence) and not isinstance(labels, str)
    if not (listed and all(isinstance(label, str) for label in labels)):
        raise SchemaError("Labels are a list of strings, e.g. ['yes', 'no'].", code="invalid_labels")
    if len(labels) < 2:
        raise SchemaError(f"A choice needs at least two labels, got {len(labels)}.", code="invalid_labels")
    for label in labels:
        if not label.strip() or not label.isprintable():
            raise SchemaError(
                f"Label {label!r} is blank or holds a character that cannot be printed; use plain words.",
                code="invalid_labels",
            )
    repeated = [label for label, times in Counter(map(str.strip, labels)).items() if times > 1]
    if repeated:
        raise SchemaError(f"Labels stand twice: {', '.join(repeated)}. List each once.", code="invalid_labels")
    if set(labels) == set(AGNEWS_LABELS):
        task = agnews(labels)
    else:
        task = Task("classification", instruction="", labels=tuple(labels))
        task = replace(task, instruction=instruction(task, "short"))
    return prompted(task, prompt, examples)


def prompted(
    task: Task,
    prompt: PromptName | None = None,
    examples: Sequence[tuple[str, Any]] = (),
    named: Callable[[int], str] = "Example {}".format,
) -> Task:
    """A task asked with another named prompt, and with examples: texts and their right answers, shown before the text.

    None leaves the instruction as it is. `named` is how an error calls an example, by its number from 1.
    Errors: `UsageError` for an unknown prompt, `invalid_example` for an example that is no answer of the task.
    """
    if prompt is not None and prompt != task.prompt:
        task = replace(task, prompt=prompt, instruction=instruction(task, prompt))
    if examples:
        task = replace(task, examples=checked_examples(task, examples, named))
    return task


def is_derived(task: Task) -> bool:
    """Whether a task is what its schema or labels and its named prompt make it, wherever they are read."""
    try:
        if task.schema is None:
            return classification(task.labels, prompt=task.prompt) == task
        return extraction(task.schema, prompt=task.prompt) == task
    except (SchemaError, UsageError):
        return False


def _read(schema: Json | type[BaseModel] | Schema) -> Schema:
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return Schema(class_schema(schema), schema)
    if isinstance(schema, Mapping):
        try:
            json.dumps(schema, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"The schema is no JSON: {error}.", code="invalid_schema") from error
        return Schema(dict(schema))
    raise SchemaError(
        f"A schema is a JSON Schema object or a pydantic class, not {type(schema).__name__}.", code="invalid_schema"
    )


def _properties(schema: Json) -> dict[str, Any]:
    properties = schema.get("properties")
    return dict(properties) if isinstance(properties, Mapping) else {}


def _is_address(properties: Mapping[str, Any]) -> bool:
    if set(properties) == set(ADDRESS_FIELDS):
        return True
    return bool(properties) and set(properties) < set(ADDRESS_FIELDS) and all(map(_plain_string, properties.values()))


def _plain_string(field: Any) -> bool:
    return isinstance(field, Mapping) and field.get("type") == "string" and set(field) <= _ANNOTATIONS
