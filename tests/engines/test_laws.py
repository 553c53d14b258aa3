"""The laws of the protocol, on every engine: how tokens are read never changes scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.errors import EngineError
from engines.reading import all_rows, append, last_scores, read_all, rows_of
from law_cases import cases

TOKENS = tuple((29 * index + 11) % 320 for index in range(90))
OTHERS = tuple((31 * index + 7) % 320 for index in range(90))


@pytest.fixture(scope="module")
def expected(any_engine: Engine) -> np.ndarray:
    """Log-probabilities after each of `TOKENS`, read alone and in one piece."""
    return all_rows(any_engine, TOKENS)


def test_packed_is_as_alone(any_engine: Engine, expected: np.ndarray) -> None:
    one, two, three = (any_engine.open() for _ in range(3))
    any_engine.run([read_all(one, OTHERS[:7]), read_all(two, TOKENS), read_all(three, OTHERS[:50])])
    np.testing.assert_allclose(rows_of(any_engine, two, len(TOKENS)), expected, atol=any_engine.tolerance)
    for sequence in (one, two, three):
        any_engine.release(sequence)


def test_k_passes_of_one_are_as_one_pass_of_k(any_engine: Engine, expected: np.ndarray) -> None:
    sequence = any_engine.open()
    singly = np.concatenate([append(any_engine, sequence, [token]) for token in TOKENS[:40]])
    np.testing.assert_allclose(singly, expected[:40], atol=any_engine.tolerance)
    any_engine.release(sequence)


def test_a_fork_goes_on_by_itself(any_engine: Engine, expected: np.ndarray) -> None:
    origin = any_engine.open()
    any_engine.run([Read(origin, TOKENS[:50])])
    fork = any_engine.fork(origin)
    append(any_engine, origin, OTHERS[:10])
    np.testing.assert_allclose(append(any_engine, fork, TOKENS[50:]), expected[50:], atol=any_engine.tolerance)
    any_engine.release(fork)
    any_engine.cut(origin, 50)
    np.testing.assert_allclose(append(any_engine, origin, TOKENS[50:]), expected[50:], atol=any_engine.tolerance)
    any_engine.release(origin)


def test_a_fork_outlives_its_origin(any_engine: Engine, expected: np.ndarray) -> None:
    origin = any_engine.open()
    any_engine.run([Read(origin, TOKENS[:50])])
    fork = any_engine.fork(origin)
    any_engine.release(origin)
    assert any_engine.length(fork) == 50
    np.testing.assert_allclose(append(any_engine, fork, TOKENS[50:]), expected[50:], atol=any_engine.tolerance)
    any_engine.release(fork)


@settings(max_examples=cases(150) // 10, deadline=None)  # real engines take their time
@given(data=st.data())
def test_any_history_leaves_no_trace(any_engine: Engine, expected: np.ndarray, data: st.DataObject) -> None:
    """Random reads, forks, cuts and releases; then what each sequence holds is scored as if read in one piece."""
    held: dict[int, list[int]] = {}
    for _ in range(data.draw(st.integers(1, 12))):
        sequence = data.draw(st.sampled_from([*held, None]))
        if sequence is None:
            held[any_engine.open()] = []
            continue
        action = data.draw(st.sampled_from(["read", "read", "read", "fork", "cut", "release"]))
        if action == "read":
            count = data.draw(st.integers(1, 40))
            tokens = (TOKENS if data.draw(st.booleans()) else OTHERS)[:count]
            any_engine.run([Read(sequence, tokens)])
            held[sequence] += tokens
        elif action == "fork":
            held[any_engine.fork(sequence)] = list(held[sequence])
        elif action == "cut":
            length = data.draw(st.integers(0, len(held[sequence])))
            any_engine.cut(sequence, length)
            del held[sequence][length:]
        else:
            any_engine.release(sequence)
            del held[sequence]
    found = any_engine.run([Read(sequence, (5,), (Wanted(0, (1, 2)),)) for sequence in held])
    for (sequence, tokens), [scores] in zip(held.items(), found, strict=True):
        assert any_engine.length(sequence) == len(tokens) + 1
        any_engine.release(sequence)
        fresh = any_engine.open()
        again = last_scores(any_engine, fresh, [*tokens, 5], Wanted(len(tokens), (1, 2)))
        any_engine.release(fresh)
        assert scores.listed == pytest.approx(again.listed, abs=any_engine.tolerance)
        assert scores.logprob == pytest.approx(again.logprob, abs=any_engine.tolerance)


def test_scores_and_row_agree(any_engine: Engine) -> None:
    sequence = any_engine.open()
    [[early, late]] = any_engine.run([Read(sequence, TOKENS, (Wanted(3, (4, 5)), Wanted(88, (), 3)))])
    row = any_engine.row(sequence, 3)
    np.testing.assert_array_equal(row, any_engine.row(sequence, 3 - len(TOKENS)))
    assert row.shape == (320,)
    assert np.exp(row.astype(np.float64)).sum() == pytest.approx(1, abs=1e-5)
    assert early.argmax == row.argmax()
    assert early.logprob == pytest.approx(row.max(), abs=1e-5)
    assert early.listed == pytest.approx(row[[4, 5]].tolist(), abs=1e-5)
    assert [token for token, _ in late.top] == np.argsort(-any_engine.row(sequence, 88), kind="stable")[:3].tolist()
    any_engine.release(sequence)


def test_a_row_stays_until_the_sequence_goes_on(any_engine: Engine) -> None:
    one, two = any_engine.open(), any_engine.open()
    any_engine.run([read_all(one, TOKENS[:3])])
    before = any_engine.row(one, 1)
    any_engine.run([read_all(two, OTHERS)])
    np.testing.assert_allclose(any_engine.row(one, 1), before, atol=1e-5)
    np.testing.assert_allclose(any_engine.row(one, 1), before, atol=1e-5)
    assert not np.allclose(any_engine.row(two, 1), before, atol=1e-2)
    any_engine.cut(one, 2)
    with pytest.raises(EngineError, match="position 1 was not wanted"):
        any_engine.row(one, 1)
    any_engine.release(one)
    any_engine.release(two)


@pytest.mark.parametrize(
    ("read", "complaint"),
    [
        (Read(0, (1, 320)), "below 320"),
        (Read(0, (-1,)), "below 320"),
        (Read(0, (1, 2), (Wanted(2),)), "position 2"),
        (Read(0, (1, 2), (Wanted(1), Wanted(0))), "position 0"),
        (Read(0, (1,) * 600), "context of 512"),
    ],
)
def test_a_senseless_read_changes_nothing(any_engine: Engine, read: Read, complaint: str) -> None:
    sequence = any_engine.open()
    append(any_engine, sequence, TOKENS[:5])
    with pytest.raises(EngineError, match=complaint):
        any_engine.run([Read(sequence, read.tokens, read.wanted)])
    assert any_engine.length(sequence) == 5
    any_engine.release(sequence)


def test_a_sequence_twice_in_a_call_is_refused(any_engine: Engine) -> None:
    sequence = any_engine.open()
    with pytest.raises(EngineError, match="once a call"):
        any_engine.run([Read(sequence, (1,)), Read(sequence, (2,))])
    any_engine.release(sequence)


@pytest.mark.parametrize("length", [-1, 4])
def test_cutting_to_a_length_that_is_none(any_engine: Engine, length: int) -> None:
    sequence = any_engine.open()
    append(any_engine, sequence, TOKENS[:3])
    with pytest.raises(EngineError, match=f"cannot be cut to {length}"):
        any_engine.cut(sequence, length)
    any_engine.release(sequence)
