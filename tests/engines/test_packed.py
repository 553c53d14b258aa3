"""Packing reads and scores loses nothing, and merging several clients' packs is the same as packing all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.engines.packed import PackedReads, PackedScores, run_packed
from copydesk.engines.protocol import Read, Scores, Wanted
from fake_engine import FakeEngine, hashed

_TOKENS = st.integers(0, 2**31 - 1)
_LOGPROBS = st.floats(-100.0, 0.0, width=32)


@st.composite
def _reads(draw: st.DrawFn, sequence: int) -> Read:
    tokens = draw(st.lists(_TOKENS, min_size=1, max_size=6))
    positions = sorted(draw(st.sets(st.integers(0, len(tokens) - 1))))
    wanted = [
        Wanted(position, tuple(draw(st.lists(_TOKENS, max_size=3))), draw(st.integers(0, 2))) for position in positions
    ]
    if wanted and draw(st.booleans()):
        last = wanted[-1]
        wanted[-1] = Wanted(last.position, last.listed, last.top, draw(st.integers(0, 3)))
    return Read(sequence, tuple(tokens), tuple(wanted))


@st.composite
def _calls(draw: st.DrawFn) -> tuple[list[Read], list[list[Scores]]]:
    """Reads, and scores as an engine of a vocabulary of one token or many might return."""
    reads = [draw(_reads(number)) for number in range(draw(st.integers(0, 4)))]
    found = draw(st.integers(1, 2))
    pair = st.tuples(_TOKENS, _LOGPROBS)
    results = []
    for read in reads:
        scores = []
        for wanted in read.wanted:
            top = tuple(draw(pair) for _ in range(min(wanted.top, found)))
            ahead = tuple(draw(pair) for _ in range(draw(st.integers(0, wanted.ahead))))
            listed = tuple(draw(_LOGPROBS) for _ in wanted.listed)
            scores.append(Scores(draw(_TOKENS), draw(_LOGPROBS), listed, top, ahead))
        results.append(scores)
    return reads, results


def _equal(left: PackedReads | PackedScores, right: PackedReads | PackedScores) -> bool:
    pairs = zip(left.arrays(), right.arrays(), strict=True)
    return all(one.dtype == other.dtype and np.array_equal(one, other) for one, other in pairs)


@settings(deadline=None)
@given(_calls())
def test_nothing_is_lost(call: tuple[list[Read], list[list[Scores]]]) -> None:
    reads, results = call
    packed = PackedReads.pack(reads)
    assert packed.unpack() == reads
    assert PackedScores.pack(results, packed).unpack(packed) == results


@settings(deadline=None)
@given(st.lists(_calls(), min_size=1, max_size=3))
def test_merging_is_packing_all(calls: Sequence[tuple[list[Read], list[list[Scores]]]]) -> None:
    parts = [PackedReads.pack(reads) for reads, _ in calls]
    merged = PackedReads.concatenate(parts)
    assert _equal(merged, PackedReads.pack([read for reads, _ in calls for read in reads]))
    scores = PackedScores.pack([result for _, results in calls for result in results], merged)
    split = scores.split(parts)
    assert [one.unpack(part) for one, part in zip(split, parts, strict=True)] == [results for _, results in calls]
    assert _equal(PackedScores.concatenate(split), scores)
    for packed in (merged, scores):
        assert tuple(array.dtype for array in packed.arrays()) == packed.dtypes


def test_shapes() -> None:
    packed = PackedReads.pack([Read(7, (1, 2, 3), (Wanted(0), Wanted(2, (5, 6), 1, 4))), Read(8, (4,))])
    assert [one.tolist() for one in packed.arrays()] == [
        [7, 8], [3, 1], [1, 2, 3, 4], [2, 0], [0, 2], [0, 2], [5, 6], [0, 1], [4, 0],
    ]  # fmt: skip


class _Native(FakeEngine):
    """Takes packed reads and nothing else."""

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        raise AssertionError("it takes packed reads")

    def run_packed(self, reads: PackedReads) -> PackedScores:
        return PackedScores.pack(super().run(reads.unpack()), reads)


def test_any_engine_runs_packed_reads() -> None:
    plain, native = FakeEngine(50, hashed(50)), _Native(50, hashed(50))
    assert plain.open() == native.open() == 1
    reads = PackedReads.pack([Read(1, (3, 4, 5), (Wanted(1, (9,)), Wanted(2, top=2)))])
    scores = run_packed(plain, reads)
    assert _equal(scores, run_packed(native, reads))
    assert scores.argmax.tolist() == [int(plain.row(1, place).argmax()) for place in (1, 2)]
