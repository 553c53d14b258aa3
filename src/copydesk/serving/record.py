"""How a version's calls went of late, and whether it falls behind the others that answer for the same name.

Knows nothing of what is done about it.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "failed", "invalid"]
"""`invalid`: there was an answer, and it did not satisfy its schema."""
_REMEMBERED = 500


@dataclass(frozen=True, slots=True)
class JudgingSettings:
    """When a version is taken out. Shares lie between 0 and 1."""

    window_seconds: float = 60.0
    """How far back calls count."""
    least_calls: int = 20
    """Fewer calls in the window say nothing, neither of it nor of the others."""
    failed_share: float = 0.5
    """So many failed calls are too many, whatever the others do."""
    failed_margin: float = 0.2
    """So many more than the others is too many."""
    invalid_margin: float = 0.05
    """The same for answers that do not satisfy their schema."""
    slow_factor: float = 3.0
    """A median so many times the others' is too slow ..."""
    slow_seconds: float = 0.2
    """... if it is at least so much longer."""


@dataclass(frozen=True, slots=True)
class _Call:
    at: float
    outcome: Outcome
    seconds: float


class Record:
    """The last calls of a version."""

    def __init__(self, window_seconds: float) -> None:
        self._window = window_seconds
        self._calls: deque[_Call] = deque()
        self._counts: Counter[Outcome] = Counter()
        """Of them, by how they went."""

    def add(self, outcome: Outcome, seconds: float) -> None:
        """A call is over; `seconds` to its answer, or to a stream's first part."""
        if len(self._calls) == _REMEMBERED:
            self._drop()
        self._calls.append(_Call(time.monotonic(), outcome, seconds))
        self._counts[outcome] += 1

    def clear(self) -> None:
        """Forget all."""
        self._calls.clear()
        self._counts.clear()

    def __len__(self) -> int:
        self._forget()
        return len(self._calls)

    def share(self, outcome: Outcome) -> float:
        """Share of the calls that went so; 0 if there are none."""
        self._forget()
        return self._counts[outcome] / max(1, len(self._calls))

    def median_seconds(self) -> float | None:
        """Of the calls that went well; None if there are none."""
        self._forget()
        times = [call.seconds for call in self._calls if call.outcome == "ok"]
        return statistics.median(times) if times else None

    def _forget(self) -> None:
        oldest = time.monotonic() - self._window
        while self._calls and self._calls[0].at < oldest:
            self._drop()

    def _drop(self) -> None:
        self._counts[self._calls.popleft().outcome] -= 1


def falls_behind(one: Record, others: Sequence[Record], settings: JudgingSettings) -> str | None:
    """Why a version should be taken out; None if it should not. `others` are those that are in.

    Without others that have answered enough, only failing counts: being slow or invalid beats not answering.
    """
    if len(one) < settings.least_calls:
        return None
    failed, invalid = one.share("failed"), one.share("invalid")
    if failed >= settings.failed_share:
        return f"{failed:.0%} of its calls failed"
    compared = [other for other in others if len(other) >= settings.least_calls]
    if not compared:
        return None
    theirs = statistics.mean(other.share("failed") for other in compared)
    if failed > theirs + settings.failed_margin:
        return f"{failed:.0%} of its calls failed, of the others' {theirs:.0%}"
    theirs = statistics.mean(other.share("invalid") for other in compared)
    if invalid > theirs + settings.invalid_margin:
        return f"{invalid:.0%} of its answers were invalid, of the others' {theirs:.0%}"
    medians = [other for other in (each.median_seconds() for each in compared) if other is not None]
    median = one.median_seconds()
    if median is None or not medians:
        return None
    usual = min(medians)
    if median > settings.slow_factor * usual and median > usual + settings.slow_seconds:
        return f"its answers took {median:.2f} s, the others' {usual:.2f} s"
    return None
