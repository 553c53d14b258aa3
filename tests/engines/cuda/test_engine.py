"""The CUDA engine on its kernels' plain twins: parts, tokens ahead, what runs out. Its laws are in test_laws."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from copydesk.engines import cuda
from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.cache import bytes_per_block
from copydesk.engines.cuda.engine import CudaEngine
from copydesk.engines.cuda.layout import Part
from copydesk.engines.cuda.runner import LONGEST_CHAIN, Outcome
from copydesk.engines.cuda.shapes import Heads
from copydesk.engines.packed import PackedReads
from copydesk.engines.protocol import Read, Wanted
from copydesk.errors import EngineError, UsageError
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of

TEXTS = ([*range(5)], [*range(40)], [7], [(11 * index) % 320 for index in range(90)])


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[CudaEngine]:
    loaded = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    yield loaded
    loaded.close()


def decoded(engine: CudaEngine, text: Sequence[int], count: int) -> list[int]:
    """Greedily, one token a call."""
    sequence, step, tokens = engine.open(), tuple(text), []
    for _ in range(count):
        [[score]] = engine.run([Read(sequence, step, (Wanted(len(step) - 1),))])
        tokens.append(score.argmax)
        step = (score.argmax,)
    engine.release(sequence)
    return tokens


@pytest.mark.parametrize("group", [TEXTS[:1], TEXTS[:3], TEXTS])
def test_tokens_decoded_ahead_are_those_decoded_one_by_one(engine: CudaEngine, group: Sequence[list[int]]) -> None:
    free = engine._table.free_blocks
    sequences = [engine.open() for _ in group]
    reads = [
        Read(one, tuple(text), (Wanted(len(text) - 1, ahead=20),)) for one, text in zip(sequences, group, strict=True)
    ]
    for sequence, text, [score] in zip(sequences, group, engine.run(reads), strict=True):
        assert [score.argmax, *(token for token, _ in score.ahead)] == decoded(engine, text, 21)
        assert engine.length(sequence) == len(text) + 20
        [[after]] = engine.run([Read(sequence, (score.ahead[-1][0],), (Wanted(0),))])
        assert after.argmax == decoded(engine, text, 22)[-1]
        engine.release(sequence)
    assert engine._table.free_blocks == free


def test_no_more_is_decoded_ahead_than_all_want(engine: CudaEngine) -> None:
    one, two = engine.open(), engine.open()
    results = engine.run([Read(one, (1,), (Wanted(0, ahead=3),)), Read(two, (2,), (Wanted(0),))])
    assert [result[0].ahead for result in results] == [(), ()]
    [[score]] = engine.run([Read(one, (3,), (Wanted(0, ahead=999),))])
    assert len(score.ahead) == LONGEST_CHAIN


def test_what_is_decoded_ahead_fits_the_context(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape())
    engine = cuda.load(folder, device="cpu", dtype="float32", context_length=20)
    sequence = engine.open()
    [[score]] = engine.run([Read(sequence, tuple(range(15)), (Wanted(14, ahead=30),))])
    assert len(score.ahead) == 5
    assert engine.length(sequence) == 20


def test_nothing_is_decoded_ahead_where_blocks_run_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape())
    block = bytes_per_block(2, Heads(4, 2, 32), torch.float32)
    engine = cuda.load(folder, device="cpu", dtype="float32", cache_bytes=4 * block)  # three, and the scratch block
    one, two = engine.open(), engine.open()
    engine.run([Read(one, (1,) * 2 * BLOCK_SIZE)])
    [[score]] = engine.run([Read(two, (1,) * BLOCK_SIZE, (Wanted(BLOCK_SIZE - 1, ahead=30),))])
    assert (score.ahead, engine.length(two)) == ((), BLOCK_SIZE)


def test_long_calls_go_in_parts(tmp_path: Path) -> None:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    expected = [all_rows(engine, text) for text in TEXTS]
    for limit, texts in ((1, TEXTS[:1]), (7, TEXTS[:3]), (50, TEXTS)):
        engine._tokens_at_once = limit
        sequences = [engine.open() for _ in texts]
        engine.run([read_all(sequence, text) for sequence, text in zip(sequences, texts, strict=True)])
        for sequence, text, rows in zip(sequences, texts, expected, strict=False):
            np.testing.assert_allclose(rows_of(engine, sequence, len(text)), rows, atol=1e-4)
            engine.release(sequence)


def test_listed_tokens_of_parts_are_their_own(engine: CudaEngine) -> None:
    wanted = tuple(Wanted(index, (index, 3), top=2) for index in range(0, 40, 3))
    sequence = engine.open()
    engine._tokens_at_once = 13
    [scores] = engine.run([Read(sequence, tuple(TEXTS[1]), wanted)])
    for one, score in zip(wanted, scores, strict=True):
        row = engine.row(sequence, one.position)
        assert score.listed == pytest.approx(row[list(one.listed)].tolist(), abs=1e-5)
        assert [token for token, _ in score.top] == np.argsort(-row, kind="stable")[:2].tolist()
    engine.release(sequence)


def test_packed_reads_are_as_reads(engine: CudaEngine) -> None:
    one, two = engine.open(), engine.open()
    [first] = engine.run([Read(one, (1, 2, 3), (Wanted(1, (4,)), Wanted(2)))])
    packed = PackedReads.pack([Read(two, (1, 2, 3), (Wanted(1, (4,)), Wanted(2)))])
    assert engine.run_packed(packed).unpack(packed) == [first]


def test_a_forward_that_is_too_large_is_halved(engine: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    read = engine._runner.read
    sizes = []

    def limited(part: Part) -> Outcome:
        sizes.append(len(part.tokens))
        if len(part.tokens) > 1500:
            raise torch.OutOfMemoryError("too many")
        return read(part)

    monkeypatch.setattr(engine._runner, "read", limited)
    sequences = [engine.open() for _ in range(5)]
    reads = [Read(sequence, tuple(range(300)) + tuple(range(100)), (Wanted(399),)) for sequence in sequences]
    results = engine.run(reads)
    assert sizes[0] == 2000
    assert max(sizes[-2:]) <= 1500
    assert len({result[0].argmax for result in results}) == 1


def test_forks_survive_a_call_that_is_split(engine: CudaEngine) -> None:
    """All copies are made with the first part, of whatever sequences it is."""
    origin = engine.open()
    append(engine, origin, TEXTS[0])
    forks = [engine.fork(origin) for _ in range(6)]
    engine._tokens_at_once = 32
    reads = [Read(fork, (*TEXTS[2], number), (Wanted(len(TEXTS[2])),)) for number, fork in enumerate(forks)]
    results = engine.run(reads)
    for number, [score] in enumerate(results):
        expected = all_rows(engine, [*TEXTS[0], *TEXTS[2], number])[-1]
        assert score.argmax == expected.argmax()
        assert score.logprob == pytest.approx(expected.max(), abs=1e-4)


def test_a_small_forward_that_fails_leaves_large_ones_large(
    engine: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def never(part: Part) -> Outcome:
        tried.append(len(part.tokens))
        raise torch.OutOfMemoryError("too many")

    before = engine._tokens_at_once
    monkeypatch.setattr(engine._runner, "read", never)
    with pytest.raises(EngineError, match="no memory left"):
        engine.run([Read(engine.open(), tuple(range(300)), (Wanted(0),))])
    assert (tried, engine._tokens_at_once) == ([300, 300], before)


def test_where_memory_is_too_little_to_decode_ahead_the_scores_are_there(
    engine: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(part: Part, first: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
        raise torch.OutOfMemoryError("too many")

    monkeypatch.setattr(engine._runner, "decode", never)
    sequence = engine.open()
    [[score]] = engine.run([Read(sequence, tuple(TEXTS[1]), (Wanted(39, ahead=3),))])
    assert (score.ahead, engine.length(sequence)) == ((), 40)
    assert score.argmax == all_rows(engine, TEXTS[1])[-1].argmax()


def test_where_memory_is_too_little_for_anything_that_is_said(
    engine: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(part: Part) -> Outcome:
        raise torch.OutOfMemoryError("too many")

    sequence = engine.open()
    append(engine, sequence, TEXTS[0])
    with monkeypatch.context() as patch:
        patch.setattr(engine._runner, "read", never)
        with pytest.raises(EngineError, match="no memory left"):
            engine.run([Read(sequence, (1,), (Wanted(0),))])
    assert engine.length(sequence) == 5
    np.testing.assert_allclose(
        append(engine, sequence, TEXTS[2]), all_rows(engine, [*TEXTS[0], *TEXTS[2]])[5:], atol=1e-4
    )


def test_a_fork_survives_a_forward_that_was_never_made(engine: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(part: Part) -> Outcome:
        raise torch.OutOfMemoryError("too many")

    origin = engine.open()
    append(engine, origin, TEXTS[0])
    fork = engine.fork(origin)
    with monkeypatch.context() as patch:
        patch.setattr(engine._runner, "read", never)
        with pytest.raises(EngineError, match="no memory left"):
            engine.run([Read(fork, (1,), (Wanted(0),))])
    expected = all_rows(engine, [*TEXTS[0], *TEXTS[2]])[5:]
    np.testing.assert_allclose(append(engine, fork, TEXTS[2]), expected, atol=1e-4)


def test_what_is_read_again_in_smaller_parts_takes_its_blocks_as_they_were(
    engine: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, limits = engine._runner._scored, [True]

    def limited(*arguments: Any) -> Outcome:
        if limits:  # when all is written, but for the scores
            limits.pop()
            raise torch.OutOfMemoryError("too many")
        return score(*arguments)

    long = engine.open()
    append(engine, long, TEXTS[1])
    short = engine.fork(long)
    engine.cut(short, 36)
    monkeypatch.setattr(engine._runner, "_scored", limited)
    text = tuple(index % 320 for index in range(20))
    results = engine.run([Read(long, (7,), (Wanted(0),)), Read(short, text, (Wanted(19),))])
    again = engine.open()
    engine.run([Read(again, tuple(TEXTS[1]))])
    [[expected]] = engine.run([Read(again, (7,), (Wanted(0),))])
    assert not limits
    assert results[0][0].argmax == expected.argmax
    assert results[0][0].logprob == pytest.approx(expected.logprob, abs=1e-4)


def test_scores_are_kept_while_more_is_decoded(engine: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a recording gave lies where others, played later, may write."""
    read, decode = engine._runner.read, engine._runner.decode
    given: list[Outcome] = []

    def noted(part: Part) -> Outcome:
        given.append(read(part))
        return given[-1]

    def overwriting(part: Part, first: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
        given[-1].values.fill_(float("nan"))
        return decode(part, first, steps)

    expected = decoded(engine, TEXTS[1], 4)
    monkeypatch.setattr(engine._runner, "read", noted)
    monkeypatch.setattr(engine._runner, "decode", overwriting)
    [[score]] = engine.run([Read(engine.open(), tuple(TEXTS[1]), (Wanted(39, ahead=3),))])
    assert [score.argmax, *(token for token, _ in score.ahead)] == expected


def test_closing_gives_the_memory_back(tmp_path: Path) -> None:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    engine.run([Read(engine.open(), (1,), (Wanted(0, ahead=3),))])
    held = [weakref.ref(one) for one in (engine._runner._cache.keys, engine._runner._network.embedding)]
    engine.close()
    engine.close()
    assert [one() for one in held] == [None, None]


def test_a_full_cache_changes_nothing(tmp_path: Path) -> None:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32", cache_bytes=1)
    sequence = engine.open()
    append(engine, sequence, TEXTS[0])
    other = engine.open()
    with pytest.raises(EngineError, match="the KV cache is full") as caught:
        engine.run([Read(sequence, (1,)), Read(other, (2,))])
    assert caught.value.code == "cache_full"
    assert (engine.length(sequence), engine.length(other)) == (5, 0)


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    engine._runner._network.gains.fill_(float("nan"))
    with pytest.raises(EngineError, match="not numbers"):
        engine.run([Read(engine.open(), (1,), (Wanted(0),))])


def test_poisoned_blocks_are_never_read(engine: CudaEngine) -> None:
    expected = all_rows(engine, TEXTS[3])
    engine._runner._cache.keys.fill_(float("nan"))
    engine._runner._cache.values.fill_(float("nan"))
    np.testing.assert_array_equal(all_rows(engine, TEXTS[3]), expected)


def test_bfloat16_is_close(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape(), "nano")
    exact, rounded = (cuda.load(folder, device="cpu", dtype=dtype) for dtype in ("float32", "bfloat16"))
    assert (exact.tolerance, rounded.tolerance) == (1e-3, 0.05)
    difference = np.abs(all_rows(exact, TEXTS[3]) - all_rows(rounded, TEXTS[3])).max()
    assert 0 < difference < 0.3  # a random model's logits are far apart


@pytest.mark.parametrize("dtype", ["float16", "int8", ""])
def test_an_unknown_dtype_is_named(dtype: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dtype is float32 or bfloat16"):
        cuda.load(tmp_path, device="cpu", dtype=dtype)
