"""Scores, best picks and learning steps."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.tagger.features import units_of
from copydesk.drafting.tagger.perceptron import Learning, Scores, Weights, rows_of, score

small = st.integers(-4, 4).map(float)
columns = st.integers(1, 6).flatmap(lambda units: st.lists(small, min_size=2 * units, max_size=2 * units))


def scores_of(column: list[float]) -> Scores:
    units = len(column) // 2
    starts, ends = np.array(column, np.float32).reshape(2, units, 1)
    return Scores(starts, ends, np.zeros(0, np.float32))


def all_runs(units: int) -> list[tuple[int, int]]:
    return [(first, last) for first in range(units) for last in range(first, units)]


@given(columns)
def test_the_best_run_is_the_best_of_all(column: list[float]) -> None:
    scores = scores_of(column)
    first, last, total = (found.item() for found in scores.best_runs())
    assert total == scores.starts[first, 0] + scores.ends[last, 0]
    assert first <= last
    assert total == max(scores.starts[run[0], 0] + scores.ends[run[1], 0] for run in all_runs(len(column) // 2))


@given(columns)
def test_the_best_set_is_the_best_of_all(column: list[float]) -> None:
    scores = scores_of(column)

    def worth(runs: tuple[tuple[int, int], ...]) -> float:
        return float(sum(scores.starts[first, 0] + scores.ends[last, 0] for first, last in runs))

    runs = all_runs(len(column) // 2)
    apart = (
        chosen
        for count in range(4)
        for chosen in itertools.combinations(runs, count)
        if all(one[1] < other[0] for one, other in itertools.pairwise(chosen))
    )
    found = tuple(scores.best_set(0))
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
    assert worth(found) >= max(map(worth, apart)) - 1e-6


def test_learning_raises_what_is_right() -> None:
    weights = Weights.zeros(12, 2, 10, 1)
    rows = rows_of(units_of("met Ann Lee in Rome").features, weights)
    learning = Learning(weights)
    learning.learn(rows, [(1, (1, 2), 1.0), (1, (4, 4), -1.0)], [(0, 1.0)])
    learning.learn(rows, [], [])
    found = score(learning.mean(), rows)
    first, last, totals = found.best_runs()
    assert (first[1], last[1], totals[1] > 0, totals[0]) == (1, 2, True, 0)
    assert found.values[0] > 0


def test_the_mean_is_over_all_steps() -> None:
    weights = Weights.zeros(12, 1, 10, 0)
    rows = rows_of(units_of("word").features, weights)
    learning = Learning(weights)
    seen = [learning.weights.runs.copy()]
    for amount in (1.0, -3.0, 0.5):
        learning.learn(rows, [(0, (0, 0), amount)], [])
        seen.append(learning.weights.runs.copy())
    np.testing.assert_allclose(learning.mean().runs, np.mean(seen, axis=0), atol=1e-6)
    assert not weights.runs.any()


def test_weights_keep_their_place_when_there_is_more_to_tell_apart() -> None:
    weights = Weights.zeros(12, 2, 10, 1)
    weights.runs[:] = np.arange(6)
    weights.values[:] = 7
    wide = weights.widened(3, 2)
    assert wide.runs[5].tolist() == [0, 1, 0, 2, 3, 0, 4, 5, 0]
    assert wide.values[5].tolist() == [7, 0]
