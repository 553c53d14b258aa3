"""Scores of a row of logits, against the definition in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from copydesk.engines.protocol import Scores, Wanted
from copydesk.engines.scoring import normalizers_of, score_rows
from copydesk.errors import EngineError

ROWS = arrays(np.float32, st.integers(1, 40), elements=st.floats(-50, 50, width=32))


def scores_of(logits: np.ndarray, wanted: Wanted) -> Scores:
    """Scores of a single row."""
    [scores] = score_rows(logits[None], normalizers_of(logits[None]), [wanted])
    return scores


def log_probabilities(logits: np.ndarray) -> np.ndarray:
    """By the definition, in float64."""
    precise = logits.astype(np.float64)
    return precise - np.log(np.exp(precise - precise.max()).sum()) - precise.max()


@given(logits=ROWS, top=st.integers(0, 50))
def test_by_the_definition(logits: np.ndarray, top: int) -> None:
    expected = log_probabilities(logits)
    listed = (0, len(logits) - 1)
    scores = scores_of(logits, Wanted(0, listed, top))
    assert scores.argmax == int(np.flatnonzero(logits == logits.max())[0])
    assert scores.logprob == pytest.approx(expected[scores.argmax], abs=1e-5)
    assert scores.listed == pytest.approx(expected[list(listed)].tolist(), abs=1e-5)
    best = sorted(range(len(logits)), key=lambda token: (-logits[token], token))[:top]
    assert [token for token, _ in scores.top] == best
    assert [score for _, score in scores.top] == pytest.approx(expected[best].tolist(), abs=1e-5)


@given(logits=ROWS)
def test_the_logits_are_left_alone(logits: np.ndarray) -> None:
    before = logits.copy()
    scores_of(logits, Wanted(0, (0,), 3))
    np.testing.assert_array_equal(logits, before)


def test_each_row_has_its_own_scores() -> None:
    logits = np.array([[0, 5, 0], [0, 0, 7]], np.float32)
    first, second = score_rows(logits, normalizers_of(logits), [Wanted(0, (1,)), Wanted(4, (1, 2))])
    assert (first.argmax, second.argmax) == (1, 2)
    assert first.listed == pytest.approx(log_probabilities(logits[0])[[1]].tolist(), abs=1e-5)
    assert second.listed == pytest.approx(log_probabilities(logits[1])[[1, 2]].tolist(), abs=1e-5)


def test_no_rows_have_no_scores() -> None:
    assert score_rows(np.empty((0, 3), np.float32), np.empty(0, np.float32), []) == []


def test_ties_go_to_the_lowest_id() -> None:
    scores = scores_of(np.array([0, 3, 1, 3, 3], np.float32), Wanted(0, (), 2))
    assert scores.argmax == 1
    assert [token for token, _ in scores.top] == [1, 3]


def test_a_token_that_cannot_be() -> None:
    scores = scores_of(np.array([0, -math.inf], np.float32), Wanted(0, (1,)))
    assert (scores.logprob, scores.listed) == (0, (-math.inf,))


@pytest.mark.parametrize("damage", [math.nan, math.inf])
def test_damaged_logits_are_no_scores(damage: float) -> None:
    with pytest.raises(EngineError, match="not numbers"):
        scores_of(np.array([0, damage, 1], np.float32), Wanted(0))
