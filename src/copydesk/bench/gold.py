"""Gold lines: texts with the answers that are right, from a `.jsonl` file.

`{"text", "expected": {...}, "unlabelled": [fields to leave out of a comparison]}`, or `{"text", "label"}` with the
label by name or by its place among the task's labels, from 0. Knows no models.
"""

from __future__ import annotations

from dataclasses import dataclass

from copydesk.errors import UsageError
from copydesk.inputs import json_object, lines
from copydesk.types import Failure, Json, Task


@dataclass(frozen=True, slots=True)
class Gold:
    """One gold line: the fields that are labelled, or the label."""

    text: str
    expected: Json
    """Extraction only: the labelled fields with their right values."""
    label: str | None = None
    """Classification only."""


def read_gold(name: str, task: Task) -> list[Gold]:
    """All gold lines of a file, for `task`. Errors: `UsageError` that names the first line that is none."""
    gold = []
    for number, line in lines(name):
        if isinstance(line, Failure):
            raise UsageError(f"{name}: {line.message}")
        try:
            gold.append(_gold(json_object(line), task))
        except ValueError as error:
            raise UsageError(f"{name}: line {number} is {error}.") from error
    if not gold:
        raise UsageError(f"{name} holds no gold line.")
    return gold


def _gold(row: Json, task: Task) -> Gold:
    text, expected, label = row.get("text"), row.get("expected"), row.get("label")
    if not isinstance(text, str):
        raise ValueError("without a string under the key text")
    if task.labels:
        if type(label) is int and 0 <= label < len(task.labels):
            label = task.labels[label]
        if label not in task.labels:
            raise ValueError(f"labelled {label!r}, which is none of {', '.join(task.labels)}")
        return Gold(text, {}, label)
    if not isinstance(expected, dict):
        raise ValueError("without an object under the key expected")
    unlabelled = row.get("unlabelled", [])
    if not isinstance(unlabelled, list):
        raise ValueError("without a list under the key unlabelled")
    return Gold(text, {field: value for field, value in expected.items() if field not in unlabelled})
