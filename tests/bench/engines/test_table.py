"""A row as it is printed."""

from __future__ import annotations

from typing import Any

from copydesk.bench.engines.table import Row, table
from copydesk.bench.spread import Spread

REPORT: dict[str, Any] = {
    "hardware": {"processor": "P", "features": ["avx2"], "cores_used": 2, "memory_gb": 8.0},
    "memory_read_gb_s": 20.0,
    "load_average": 0.1,
    "versions": {"numpy": "2"},
    "sizes": {"repeats": 3, "slow_repeats": 1, "one_by_one": 2, "slow": 1, "at_once": 8, "guide_tokens": 256},
    "seed": 0,
    "seconds": 60,
}


def row(name: str, ms: float) -> Row:
    spread = Spread(ms, ms, ms)
    return Row("m", "news", name, name, spread, spread, spread, spread, spread, None, 3, 4)


def test_times_are_those_of_the_first_row() -> None:
    lines = table([row("a", 300.0), row("b", 2.0)], REPORT).splitlines()
    assert lines[0] == "**News labels**, m"
    assert lines[4] == "| a | 300 | 300 | 300 | 1x | 300 | 300 | - | 3 of 4 |"
    assert lines[5] == "| b | 2 | 2 | 2 | 150x | 2 | 2 | - | 3 of 4 |"
    assert lines[2].count("|") == lines[3].count("|") == lines[4].count("|")


def test_without_the_first_row_there_is_nothing_to_compare() -> None:
    lines = table([Row("m", "news", "a", "a", why_not="no room"), row("b", 2.0)], REPORT).splitlines()
    assert lines[4] == "| a | does not run here: no room | | | | | | | |"
    assert lines[5] == "| b | 2 | 2 | 2 | - | 2 | 2 | - | 3 of 4 |"
