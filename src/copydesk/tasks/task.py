"""How a schema or a label set becomes a task: which built-in task it is, or an instruction derived from it.

Knows no tokens and no grammar; whether a schema can be honoured is the desk's business.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from copydesk.errors import SchemaError
from copydesk.tasks.builtin import ADDRESS_FIELDS, AGNEWS_LABELS, address, agnews
from copydesk.tasks.class_schema import class_schema
from copydesk.tasks.outline import outline
from copydesk.types import Json, Schema, Task

_ANNOTATIONS = frozenset({"type", "title", "description", "default", "examples", "grounded", "$comment"})


def extraction(schema: Json | type[BaseModel] | Schema) -> Task:
    """The task of filling `schema`: a JSON Schema as a dict, a pydantic class, or a `Schema`.

    A schema over the address task's fields is that task, with the caller's own key order and constraints.
    Errors: `SchemaError` (`invalid_schema`) for what is no schema.
    """
    read = _read(schema)
    properties = _properties(read.json)
    if _is_address(properties):
        return address(tuple(properties), read)
    return Task(
        name=str(read.json.get("title") or "extraction"),
        instruction=f"Extract from the text, output JSON: {outline(read.json)}",
        schema=read,
    )


def classification(labels: Sequence[str]) -> Task:
    """The task of choosing one of `labels`, at least two, different by more than spaces around them, none blank.

    Errors: `SchemaError` (`invalid_labels`).
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
        return agnews(labels)
    return Task(
        name="classification",
        instruction="Classify the text: " + ", ".join(labels),
        labels=tuple(labels),
    )


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
