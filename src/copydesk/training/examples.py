"""One training example: what is asked, of which text, and the answer that is right.

Knows no tokens: packing turns examples into arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

from copydesk.types import Task


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its answer: a JSON line in the product's one layout, or a label."""

    task: Task
    text: str
    answer: str
    weight: float = 1.0
    """Multiplies the example's loss."""
    label_probabilities: tuple[float, ...] | None = None
    """Classification only: a teacher's probabilities, in the order of `task.labels`; None trains on `answer` alone."""
