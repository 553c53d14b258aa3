"""Medians, ranges and ratios of repeats, and how they are written."""

from __future__ import annotations

import pytest

from copydesk.bench.spread import Spread, ratios


def test_median_and_range() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert Spread.of([5.0]).to_dict() == {"median": 5.0, "low": 5.0, "high": 5.0}


def test_ratios_are_of_the_same_repeat() -> None:
    assert ratios([10.0, 30.0, 20.0], [5.0, 10.0, 20.0]) == Spread(2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("spread", "written"),
    [
        (Spread(1.2345, 1.2345, 1.2345), "1.23"),
        (Spread(1234.5, 0.0, 9999.0), "1,234 (0-9,999)"),
        (Spread(1.0001, 1.0, 1.0002), "1"),
    ],
)
def test_written_short(spread: Spread, written: str) -> None:
    assert str(spread) == written
