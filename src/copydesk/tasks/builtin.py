"""The two tasks that the built-in model was trained for, and how a field or label set is recognised as one of them.

Their instructions are part of the training data: changing a character here means training again. Knows no tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.types import Json, Schema, Task

ADDRESS_FIELDS = ("province", "city", "district", "specific_location", "name", "phone")
AGNEWS_LABELS = ("World", "Sports", "Business", "Sci/Tech")


def address(fields: Sequence[str] = ADDRESS_FIELDS, schema: Schema | None = None) -> Task:
    """The address task for some of its six fields, in the order wanted.

    `schema` is the caller's own with the same keys; by default every field is a required plain string.
    """
    return Task(
        name="address",
        instruction="提取收件人，输出JSON：" + ", ".join(fields),
        schema=schema or Schema(_strings(fields)),
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


def _strings(fields: Sequence[str]) -> Json:
    return {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
        "additionalProperties": False,
    }


ADDRESS = address()
AGNEWS = agnews()
