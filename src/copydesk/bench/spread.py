"""What repeats of a measurement come to: a median and the lowest and highest. Knows no units."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from copydesk.types import Json


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, lowest and highest of the repeats."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, repeats: Sequence[float]) -> Spread:
        """Of at least one repeat."""
        return cls(statistics.median(repeats), min(repeats), max(repeats))

    def to_dict(self) -> Json:
        return {name: round(getattr(self, name), 4) for name in ("median", "low", "high")}

    def __str__(self) -> str:
        """Three significant digits, the range only where it shows."""
        middle, low, high = (_short(number) for number in (self.median, self.low, self.high))
        return middle if low == high else f"{middle} ({low}-{high})"


def ratios(upper: Sequence[float], lower: Sequence[float]) -> Spread:
    """Of each repeat's `upper` to the same repeat's `lower`."""
    return Spread.of([above / max(below, 1e-12) for above, below in zip(upper, lower, strict=True)])


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}" if number else "0"
