"""Scores and rows of hidden states, against the matrix product in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from copydesk.engines.openvino.compression import Bits, Matrix, compress
from copydesk.engines.openvino.head import Head
from copydesk.engines.openvino.runtime import EXACT
from copydesk.engines.protocol import Wanted
from copydesk.models.weights import Tensor
from engines.openvino.dequantized import values_of

ROWS = 45


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((300, 64), np.float32)


@pytest.fixture(scope="module")
def hidden() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((ROWS, 64), np.float32)


@pytest.fixture(scope="module")
def head(matrix: np.ndarray) -> Head:
    return Head(Matrix("f32", matrix), EXACT, 1)


def log_probabilities(hidden: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """By the definition, in float64."""
    logits = hidden.astype(np.float64) @ matrix.T.astype(np.float64)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def test_as_the_definition_says(head: Head, matrix: np.ndarray, hidden: np.ndarray) -> None:
    expected = log_probabilities(hidden, matrix)
    scored = head.score(hidden, [Wanted(0, (7,), 2)] * ROWS)
    assert [scores.argmax for scores in scored.scores] == expected.argmax(1).tolist()
    assert [scores.logprob for scores in scored.scores] == pytest.approx(expected.max(1).tolist(), abs=1e-4)
    assert [scores.listed[0] for scores in scored.scores] == pytest.approx(expected[:, 7].tolist(), abs=1e-4)
    assert all(scores.top[0] == (scores.argmax, pytest.approx(scores.logprob)) for scores in scored.scores)
    assert head.vocab_size == 300


def test_rows_in_any_order_and_of_any_call(head: Head, matrix: np.ndarray, hidden: np.ndarray) -> None:
    first = head.score(hidden, [Wanted(0)] * ROWS)
    second = head.score(hidden[::-1].copy(), [Wanted(0)] * ROWS)
    expected = log_probabilities(hidden, matrix)
    for index in (0, 3, 44, 3):
        np.testing.assert_allclose(head.row(second, index), expected[ROWS - 1 - index], atol=1e-4)
        np.testing.assert_allclose(head.row(first, index), expected[index], atol=1e-4)


def test_more_rows_than_it_takes_at_once(head: Head, hidden: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = head.score(hidden, [Wanted(0, (1,))] * ROWS)
    monkeypatch.setattr(head, "_rows_at_once", 7)
    parts = head.score(hidden, [Wanted(0, (1,))] * ROWS)
    assert [scores.argmax for scores in parts.scores] == [scores.argmax for scores in whole.scores]
    assert [scores.listed[0] for scores in parts.scores] == pytest.approx([s.listed[0] for s in whole.scores], abs=1e-5)
    for index in (0, 6, 7, 44):
        np.testing.assert_allclose(head.row(parts, index), head.row(whole, index), atol=1e-5)


def test_nothing_wanted_runs_nothing(head: Head) -> None:
    assert head.score(np.empty((0, 0), np.float32), []).scores == []


@pytest.mark.parametrize("bits", [8, 4])
def test_a_compressed_matrix_is_what_it_says(bits: Bits, matrix: np.ndarray, hidden: np.ndarray) -> None:
    compressed = compress(Tensor(matrix, "f32"), bits)
    head = Head(compressed, EXACT, 1)
    scored = head.score(hidden, [Wanted(0)] * ROWS)
    found = np.stack([head.row(scored, index) for index in range(ROWS)])
    np.testing.assert_allclose(found, log_probabilities(hidden, values_of(compressed)), atol=1e-3)
