"""The rules as a drafter: an address task's answer, and the rest of one that a model has corrected.

Knows the shape of answers; the task's six fields are known by the rules.
"""

from __future__ import annotations

from copydesk.drafting.expected import offer
from copydesk.drafting.layout import Guess
from copydesk.drafting.rules.draft import draft as draft_fields
from copydesk.drafting.shape import Record, shape_of
from copydesk.drafting.strings import quoted
from copydesk.types import Draft, Task


def draft(task: Task, text: str, so_far: str) -> Draft | None:
    """The answer by the rules, beginning with `so_far`; None for other tasks, and if nothing can be added."""
    shape = shape_of(task)
    if not task.builtin or task.name != "address" or not isinstance(shape, Record):
        return None
    answer = draft_fields(text, [key.name for key in shape.keys])
    guesses = {name: Guess(quoted(value), answer.fields[name].spans) for name, value in answer.values.items()}
    return offer(task, text, so_far, "rules", guesses, {})
