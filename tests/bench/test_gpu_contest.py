"""Comparisons in turns: who goes on, and what a row says."""

from __future__ import annotations

import pytest

from copydesk.bench.gpu_contest import OURS, Contest


def contest(ours: list[float], one: list[float], other: list[float], **settings: bool) -> tuple[Contest, list[str]]:
    """A contest whose figures are given, and in which order they were asked for."""
    asked: list[str] = []

    def figures(name: str, values: list[float]) -> float:
        asked.append(name)
        return values[asked.count(name) - 1]

    lower = settings.pop("lower", True)
    made = Contest(
        "name",
        "what",
        "ms",
        10.0,
        lower=lower,
        ours=lambda: figures(OURS, ours),
        peers={"one": lambda: figures("one", one), "other": lambda: figures("other", other)},
        **settings,
    )
    return made, asked


def test_only_the_best_mode_goes_on() -> None:
    made, asked = contest([1, 2, 3], [30, 33, 36], [40, 0, 0])
    found = made.run(3)
    assert found == {OURS: [1, 2, 3], "one": [30, 33, 36], "other": [40]}
    assert asked[:3] == [OURS, "one", "other"]
    assert asked[3:5] == ["one", OURS]


def test_a_mode_that_gets_worse_is_not_changed_for_one_with_fewer_figures() -> None:
    made, _ = contest([1, 2, 3], [30, 50, 60], [40, 0, 0])
    row = made.row(made.run(3), limit=1)
    assert row.peer == "one"
    assert row.ratio is not None
    assert row.ratio.median == 25


def test_a_row_says_the_ratio_and_the_share_of_the_limit() -> None:
    made, _ = contest([2, 2, 2], [30, 32, 34], [40, 0, 0])
    row = made.row(made.run(3), limit=0.5, passes=1.0)
    assert row.ratio is not None
    assert (row.peer, row.ratio.median, row.reached) == ("one", 16.0, True)
    assert (row.of_limit, row.peer_of_limit) == (0.25, pytest.approx(0.5 / 32))
    assert row.more["passes"] == 1.0
    assert row.more["modes"]["other"]["median"] == 40


def test_of_rates_the_higher_is_better() -> None:
    made, _ = contest([900, 900], [50, 60], [100, 90], lower=False)
    row = made.row(made.run(2), limit=1800)
    assert row.ratio is not None
    assert (row.peer, row.ratio.median, row.reached) == ("other", 9.5, False)
    assert row.of_limit == 0.5


def test_a_figure_of_its_own_needs_no_peer() -> None:
    made = Contest("n", "w", "ms", 3.0, lower=True, ours=lambda: 2.5, peers={}, against_peer=False)
    row = made.row(made.run(1), limit=1.0)
    assert (row.ratio, row.theirs, row.most, row.reached) == (None, None, True, True)


def test_a_ratio_is_still_told_where_the_figure_counts() -> None:
    made, _ = contest([2], [30], [40], against_peer=False)
    row = made.row(made.run(1), limit=1.0)
    assert row.ratio is None
    assert row.more["times"]["median"] == 15
