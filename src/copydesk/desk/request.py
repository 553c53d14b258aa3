"""What a caller asks of the desk: a text for a task.

Knows nothing of how it is answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from copydesk.desk import checks
from copydesk.errors import UsageError
from copydesk.types import Task

_KINDS: Mapping[str, checks.Kind] = {
    "temperature": checks.NUMBER,
    "max_tokens": checks.WHOLE_OR_NONE,
    "truncate": checks.TRUTH,
    "draft": checks.TRUTH,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One text for one task. Errors: `UsageError` for options of a wrong kind or senseless ones."""

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
    abstain_below: float | None = None
    """Classification only: give no label where the confidence of the best one is below this probability."""

    def __post_init__(self) -> None:
        checks.check_kinds(self, _KINDS)
        if not 0.0 <= self.temperature < float("inf"):
            raise UsageError(f"temperature is a number from 0 up, not {self.temperature}.")
        checks.check_max_tokens(self.max_tokens)
        checks.check_seed(self.seed)
        self._check_abstention()

    def _check_abstention(self) -> None:
        least = self.abstain_below
        if least is None:
            return
        if not isinstance(least, Real) or not 0.0 <= least <= 1.0:
            raise UsageError(f"abstain_below is a probability between 0 and 1, not {least!r}.")
        if not self.task.labels:
            raise UsageError("abstain_below is for classifications; an extraction has a confidence for each field.")
