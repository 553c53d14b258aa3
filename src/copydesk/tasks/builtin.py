"""The two tasks that the built-in model was trained for, and how a field or label set is recognised as one of them.

Their instructions are part of the training data: changing a character here means training again. Knows no tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from copydesk.types import Grounding, Json, Schema, Task

ADDRESS_FIELDS = ("province", "city", "district", "specific_location", "name", "phone")
ADDRESS_GROUNDED: Mapping[str, Grounding] = {"specific_location": "runs", "name": "run", "phone": "run"}
"""The fields that are copied; divisions are often completed or inferred."""
_CONSTRAINTS = frozenset({"pattern", "format", "enum", "const", "minLength", "$ref", "allOf", "oneOf", "not"})
AGNEWS_LABELS = ("World", "Sports", "Business", "Sci/Tech")


def address(fields: Sequence[str] = ADDRESS_FIELDS, schema: Schema | None = None) -> Task:
    """The address task for some of its six fields, in the order wanted.

    `schema` is the caller's own with the same keys; by default every field is a required plain string.
    """
    schema = schema or Schema(_strings(fields))
    properties = schema.json["properties"]
    return Task(
        name="address",
        instruction="提取收件人，输出JSON：" + ", ".join(fields),
        schema=schema,
        grounded={
            name: kind for name, kind in ADDRESS_GROUNDED.items() if name in fields and _is_free(properties[name])
        },
        builtin=True,
    )


def agnews(labels: Sequence[str] = AGNEWS_LABELS) -> Task:
    """The news task; `labels` are its four in the order in which probabilities are reported."""
    return Task(
        name="agnews",
        instruction="Classify the news: " + ", ".join(AGNEWS_LABELS),
        labels=tuple(labels),
        builtin=True,
    )


def _is_free(field: Any) -> bool:
    """Whether any text will do: what a caller's own constraint asks for may have to be written otherwise."""
    if not isinstance(field, Mapping) or set(field) & _CONSTRAINTS:
        return False
    branches = [branch for branch in field.get("anyOf", ()) if branch != {"type": "null"}]
    return all(map(_is_free, branches)) if branches else field.get("type") == "string"


def _strings(fields: Sequence[str]) -> Json:
    return {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
        "additionalProperties": False,
    }


ADDRESS = address()
AGNEWS = agnews()
