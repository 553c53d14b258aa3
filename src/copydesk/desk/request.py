"""What a caller asks of the desk.

Knows nothing of how it is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from copydesk.errors import UsageError
from copydesk.types import Task


@dataclass(frozen=True, slots=True)
class Request:
    """One text for one task. Errors: `UsageError` for senseless options."""

    task: Task
    text: str
    draft: bool = True
    """Whether the answer is drafted first, if the desk has drafters: it comes faster, and is the same."""
    prediction: Any = None
    """The caller's own guess at the answer, as a value or as JSON text: a draft that goes before others."""
    temperature: float = 0.0
    """0 takes the most probable answer; above it, answers are sampled."""
    seed: int = 0
    """What sampling depends on: the same seed, text and model give the same sample."""
    max_tokens: int | None = None
    """Longest answer, its end token included; by default a generous multiple of the text, within the context."""
    truncate: bool = False
    """Cut a text that does not fit at a sentence end rather than refuse it."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < float("inf"):
            raise UsageError(f"temperature is a number from 0 up, not {self.temperature}.")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens is at least 1, not {self.max_tokens}.")
        if self.seed < 0:
            raise UsageError(f"seed is a whole number from 0 up, not {self.seed}.")
