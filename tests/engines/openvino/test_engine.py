"""The laws of the protocol, on the paged and on the stateful cache alike: how tokens are read never changes scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.engines.openvino import OpenVinoEngine, engine, load
from copydesk.engines.protocol import Read, Wanted
from copydesk.errors import EngineError, UsageError
from engines.openvino.conftest import refuse
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, last_scores, read_all, rows_of

TOKENS = tuple((29 * index + 11) % 320 for index in range(90))
OTHERS = tuple((31 * index + 7) % 320 for index in range(90))
TOLERANCE = 1e-4
"""How far apart log-probabilities may lie in fp32; the engine promises 1e-3."""


@pytest.fixture(scope="module")
def expected(any_engine: OpenVinoEngine) -> np.ndarray:
    """Log-probabilities after each of `TOKENS`, read alone and in one piece."""
    return all_rows(any_engine, TOKENS)


def test_packed_is_as_alone(any_engine: OpenVinoEngine, expected: np.ndarray) -> None:
    one, two, three = (any_engine.open() for _ in range(3))
    any_engine.run([read_all(one, OTHERS[:7]), read_all(two, TOKENS), read_all(three, OTHERS[:50])])
    np.testing.assert_allclose(rows_of(any_engine, two, len(TOKENS)), expected, atol=TOLERANCE)
    for sequence in (one, two, three):
        any_engine.release(sequence)


def test_k_passes_of_one_are_as_one_pass_of_k(any_engine: OpenVinoEngine, expected: np.ndarray) -> None:
    sequence = any_engine.open()
    singly = np.concatenate([append(any_engine, sequence, [token]) for token in TOKENS[:40]])
    np.testing.assert_allclose(singly, expected[:40], atol=TOLERANCE)
    any_engine.release(sequence)


def test_a_fork_goes_on_by_itself(any_engine: OpenVinoEngine, expected: np.ndarray) -> None:
    origin = any_engine.open()
    any_engine.run([Read(origin, TOKENS[:50])])
    fork = any_engine.fork(origin)
    append(any_engine, origin, OTHERS[:10])
    np.testing.assert_allclose(append(any_engine, fork, TOKENS[50:]), expected[50:], atol=TOLERANCE)
    any_engine.release(fork)
    any_engine.cut(origin, 50)
    np.testing.assert_allclose(append(any_engine, origin, TOKENS[50:]), expected[50:], atol=TOLERANCE)
    any_engine.release(origin)


def test_a_fork_outlives_its_origin(any_engine: OpenVinoEngine, expected: np.ndarray) -> None:
    origin = any_engine.open()
    any_engine.run([Read(origin, TOKENS[:50])])
    fork = any_engine.fork(origin)
    any_engine.release(origin)
    assert any_engine.length(fork) == 50
    np.testing.assert_allclose(append(any_engine, fork, TOKENS[50:]), expected[50:], atol=TOLERANCE)
    any_engine.release(fork)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_history_leaves_no_trace(any_engine: OpenVinoEngine, expected: np.ndarray, data: st.DataObject) -> None:
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
        assert scores.listed == pytest.approx(again.listed, abs=TOLERANCE)
        assert scores.logprob == pytest.approx(again.logprob, abs=TOLERANCE)


def test_reads_longer_than_one_call_takes(
    any_engine: OpenVinoEngine, expected: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_TOKENS_AT_ONCE", 32)
    one, two = any_engine.open(), any_engine.open()
    any_engine.run([read_all(one, OTHERS[:45]), read_all(two, TOKENS)])
    np.testing.assert_allclose(rows_of(any_engine, two, len(TOKENS)), expected, atol=TOLERANCE)
    any_engine.release(one)
    any_engine.release(two)


def test_scores_and_row_agree(any_engine: OpenVinoEngine) -> None:
    sequence = any_engine.open()
    [[early, late]] = any_engine.run([Read(sequence, TOKENS, (Wanted(3, (4, 5)), Wanted(88, (), 3)))])
    row = any_engine.row(sequence, 3)
    assert row.shape == (320,)
    assert np.exp(row.astype(np.float64)).sum() == pytest.approx(1, abs=1e-5)
    assert early.argmax == row.argmax()
    assert early.logprob == pytest.approx(row.max(), abs=1e-5)
    assert early.listed == pytest.approx(row[[4, 5]].tolist(), abs=1e-5)
    assert [token for token, _ in late.top] == np.argsort(-any_engine.row(sequence, 88), kind="stable")[:3].tolist()
    any_engine.release(sequence)


def test_a_row_stays_until_the_sequence_goes_on(any_engine: OpenVinoEngine) -> None:
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


def test_more_rows_than_the_head_takes_at_once(any_engine: OpenVinoEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = all_rows(any_engine, TOKENS)
    monkeypatch.setattr(any_engine._head, "rows_at_once", 7)
    np.testing.assert_allclose(all_rows(any_engine, TOKENS), whole, atol=1e-5)


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
def test_a_senseless_read_changes_nothing(any_engine: OpenVinoEngine, read: Read, complaint: str) -> None:
    sequence = any_engine.open()
    append(any_engine, sequence, TOKENS[:5])
    with pytest.raises(EngineError, match=complaint):
        any_engine.run([Read(sequence, read.tokens, read.wanted)])
    assert any_engine.length(sequence) == 5
    any_engine.release(sequence)


def test_a_sequence_twice_in_a_call_is_refused(any_engine: OpenVinoEngine) -> None:
    sequence = any_engine.open()
    with pytest.raises(EngineError, match="once a call"):
        any_engine.run([Read(sequence, (1,)), Read(sequence, (2,))])
    any_engine.release(sequence)


@pytest.mark.parametrize("length", [-1, 4])
def test_cutting_to_a_length_that_is_none(any_engine: OpenVinoEngine, length: int) -> None:
    sequence = any_engine.open()
    append(any_engine, sequence, TOKENS[:3])
    with pytest.raises(EngineError, match=f"cannot be cut to {length}"):
        any_engine.cut(sequence, length)
    any_engine.release(sequence)


def test_a_full_cache_names_itself_and_changes_nothing(folder: Path) -> None:
    bytes_of_a_block = 2 * 2 * (2 * 32 * 32) * 4
    small = load(folder, cache_bytes=16 * bytes_of_a_block)
    assert small.context_length == 15 * 32
    one, two = small.open(), small.open()
    append(small, one, TOKENS)
    with pytest.raises(EngineError, match="cache is full") as caught:
        small.run([read_all(two, OTHERS), Read(small.fork(one), (1,) * 320)])
    assert caught.value.code == "cache_full"
    assert (small.length(one), small.length(two)) == (len(TOKENS), 0)
    append(small, two, OTHERS)


def test_a_full_cache_in_a_later_part_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_TOKENS_AT_ONCE", 64)
    small = load(folder, cache_bytes=16 * 2 * 2 * (2 * 32 * 32) * 4)
    one, two = small.open(), small.open()
    append(small, one, TOKENS[:3])
    with pytest.raises(EngineError, match="cache is full"):
        small.run([read_all(one, TOKENS), Read(two, (1,) * 400)])
    assert (small.length(one), small.length(two)) == (3, 0)


def test_a_cache_too_small_for_anything(folder: Path) -> None:
    with pytest.raises(UsageError, match="cache_bytes must be at least 524288"):
        load(folder, cache_bytes=1000)


def test_the_fallback_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(folder).notes == ()
    monkeypatch.setattr(engine, "check", refuse)
    [note] = load(folder).notes
    assert "without paged attention" in note
    assert "it was told to fail" in note


def test_what_is_reported(any_engine: OpenVinoEngine) -> None:
    assert (any_engine.name, any_engine.model, any_engine.vocab_size) == ("openvino", "random", 320)
    assert (any_engine.context_length, any_engine.tolerance) == (512, 1e-3)


def test_settings_by_request(folder: Path, tmp_path: Path) -> None:
    assert load(folder, context_length=100).context_length == 100
    assert load(folder, context_length=10_000).context_length == 512
    assert load(folder, exact=False).tolerance == 0.1
    plain = write_folder(tmp_path, Shape(), "bf16")
    assert load(plain).tolerance == 1e-3
    assert load(plain, bits=4).tolerance == 1e-3
    assert load(plain, bits=4, exact=False).tolerance == 0.1
    assert load(plain, exact=False).tolerance in (0.05, 1e-3)


def test_large_models_are_compressed_and_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path, Shape(), "bf16")
    monkeypatch.setattr(engine, "_LARGE", 1000)
    assert load(folder).tolerance == 0.1
    assert load(folder, exact=True).tolerance == 1e-3
