"""Reads and scores of a whole engine call as a few flat arrays: cheap to send to another process, or to a device.

What `Read`, `Wanted` and `Scores` say one object at a time, these say one array a field; nothing is added and nothing
is lost but that scores are float32. Knows no engine.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.protocol import Engine, Read, Scores, Wanted

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32]
Item = TypeVar("Item")

NO_TOKEN = -1
"""Stands among `top_tokens` where a vocabulary has fewer tokens than were asked for."""


class Packed:
    """Fields that are flat arrays, in the order in which they are declared."""

    __slots__: tuple[str, ...] = ()
    dtypes: ClassVar[tuple[type[np.generic], ...]]
    """Of the arrays, in order."""

    def arrays(self) -> list[NDArray[Any]]:
        """The fields' arrays, in order."""
        return [getattr(self, name) for name in self.__slots__]

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The parts one after the other; there is at least one, and one alone is handed back as it is."""
        if len(parts) == 1:
            return parts[0]
        return cls(*map(np.concatenate, zip(*(part.arrays() for part in parts), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class PackedReads(Packed):
    """`n` reads of one engine call: `w` wanted positions in all, `l` listed tokens in all."""

    dtypes: ClassVar = (np.int64, *(np.int32,) * 8)

    sequences: Longs
    """`[n]`, each at most once."""
    lengths: Ints
    """`[n]`: how many tokens each reads."""
    tokens: Ints
    """`[sum(lengths)]`, read after read."""
    wanted_counts: Ints
    """`[n]`: how many positions of each are wanted; they sum up to `w`."""
    positions: Ints
    """`[w]`: indices into the tokens of the own read, ascending within it."""
    listed_counts: Ints
    """`[w]`: how many tokens' log-probabilities are wanted at each position; they sum up to `l`."""
    listed: Ints
    """`[l]`, position after position."""
    tops: Ints
    """`[w]`: how many of the most probable tokens are wanted at each position."""
    aheads: Ints
    """`[n]`: how many tokens may be decoded after the last position of each; 0 where that is not wanted."""

    @classmethod
    def pack(cls, reads: Sequence[Read]) -> Self:
        """The same reads as arrays."""
        wanted = [one for read in reads for one in read.wanted]
        listed = [one.listed for one in wanted]
        return cls(
            np.array([read.sequence for read in reads], np.int64),
            _ints([len(read.tokens) for read in reads]),
            _ints(list(chain.from_iterable([read.tokens for read in reads]))),
            _ints([len(read.wanted) for read in reads]),
            _ints([one.position for one in wanted]),
            _ints(list(map(len, listed))),
            _ints(list(chain.from_iterable(listed))),
            _ints([one.top for one in wanted]),
            _ints([read.wanted[-1].ahead if read.wanted else 0 for read in reads]),
        )

    def unpack(self) -> list[Read]:
        """The same reads as objects."""
        listed = _cut(self.listed.tolist(), self.listed_counts.tolist())
        aheads = np.zeros(len(self.positions), np.int32)
        asking = np.flatnonzero(self.aheads)
        aheads[np.cumsum(self.wanted_counts)[asking] - 1] = self.aheads[asking]
        positions = zip(self.positions.tolist(), listed, self.tops.tolist(), aheads.tolist(), strict=True)
        wanted = _cut([Wanted(*one) for one in positions], self.wanted_counts.tolist())
        tokens = _cut(self.tokens.tolist(), self.lengths.tolist())
        return list(map(Read, self.sequences.tolist(), tokens, wanted))


@dataclass(frozen=True, slots=True, eq=False)
class PackedScores(Packed):
    """The scores of `PackedReads`, whose counts say what belongs to which position: `t` is the sum of its `tops`."""

    dtypes: ClassVar = (np.int32, np.float32, np.float32, np.int32, np.float32, np.int32, np.int32, np.float32)

    argmax: Ints
    """`[w]`."""
    logprobs: Floats
    """`[w]`: of `argmax`."""
    listed: Floats
    """`[l]`: log-probabilities."""
    top_tokens: Ints
    """`[t]`, position after position, the most probable first; `NO_TOKEN` fills up what a vocabulary has not."""
    top_logprobs: Floats
    """`[t]`."""
    ahead_counts: Ints
    """`[n]`: how many tokens were decoded after the last position of each read; they sum up to `a`."""
    ahead_tokens: Ints
    """`[a]`."""
    ahead_logprobs: Floats
    """`[a]`."""

    @classmethod
    def pack(cls, results: Sequence[Sequence[Scores]], reads: PackedReads) -> Self:
        """The scores that an engine returned for `reads`, as arrays."""
        scores = list(chain.from_iterable(results))
        tops = [
            one.top + ((NO_TOKEN, 0.0),) * (count - len(one.top))
            for one, count in zip(scores, reads.tops.tolist(), strict=True)
            if count
        ]
        aheads = [result[-1].ahead if result else () for result in results]
        return cls(
            _ints([one.argmax for one in scores]),
            _floats([one.logprob for one in scores]),
            _floats(list(chain.from_iterable([one.listed for one in scores]))),
            _ints([token for top in tops for token, _ in top]),
            _floats([logprob for top in tops for _, logprob in top]),
            _ints(list(map(len, aheads))),
            _ints([token for ahead in aheads for token, _ in ahead]),
            _floats([logprob for ahead in aheads for _, logprob in ahead]),
        )

    def unpack(self, reads: PackedReads) -> list[list[Scores]]:
        """The scores as an engine returns them for `reads`."""
        argmax, logprobs = self.argmax.tolist(), self.logprobs.tolist()
        if not len(self.listed) and not len(self.top_tokens):
            scores = list(map(Scores, argmax, logprobs))
        else:
            pairs = list(zip(self.top_tokens.tolist(), self.top_logprobs.tolist(), strict=True))
            tops = _cut([pair for pair in pairs if pair[0] != NO_TOKEN], self._top_counts(reads))
            listed = _cut(self.listed.tolist(), reads.listed_counts.tolist())
            scores = list(map(Scores, argmax, logprobs, listed, tops))
        results = list(map(list, _cut(scores, reads.wanted_counts.tolist())))
        if len(self.ahead_tokens):
            pairs = list(zip(self.ahead_tokens.tolist(), self.ahead_logprobs.tolist(), strict=True))
            for result, ahead in zip(results, _cut(pairs, self.ahead_counts.tolist()), strict=True):
                if ahead:
                    last = result[-1]
                    result[-1] = Scores(last.argmax, last.logprob, last.listed, last.top, ahead)
        return results

    def split(self, parts: Sequence[PackedReads]) -> list[PackedScores]:
        """The scores of each part, where the reads were the parts one after the other. They are views."""
        if len(parts) == 1:
            return [self]
        wanted = _bounds(len(part.positions) for part in parts)
        listed = _bounds(len(part.listed) for part in parts)
        tops = _bounds(int(part.tops.sum()) for part in parts)
        reads = _bounds(len(part.sequences) for part in parts)
        aheads = _bounds(int(self.ahead_counts[own].sum()) for own in reads)
        return [
            PackedScores(
                self.argmax[wanted[index]],
                self.logprobs[wanted[index]],
                self.listed[listed[index]],
                self.top_tokens[tops[index]],
                self.top_logprobs[tops[index]],
                self.ahead_counts[reads[index]],
                self.ahead_tokens[aheads[index]],
                self.ahead_logprobs[aheads[index]],
            )
            for index in range(len(parts))
        ]

    def _top_counts(self, reads: PackedReads) -> list[int]:
        """How many tokens each position's top really has."""
        present = np.concatenate(([0], np.cumsum(self.top_tokens != NO_TOKEN)))
        ends = np.cumsum(reads.tops)
        return (present[ends] - present[ends - reads.tops]).tolist()  # type: ignore[no-any-return]


class PackedEngine(Engine, Protocol):
    """An engine that takes packed reads as they are."""

    def run_packed(self, reads: PackedReads) -> PackedScores:
        """As `run`, for reads whose sense was checked by whoever packed them."""


def run_packed(engine: Engine | PackedEngine, reads: PackedReads) -> PackedScores:
    """`reads` in one call of any engine, in the way it takes them."""
    native: Callable[[PackedReads], PackedScores] | None = getattr(engine, "run_packed", None)
    if native is not None:
        return native(reads)
    return PackedScores.pack(engine.run(reads.unpack()), reads)


def _ints(values: list[int]) -> Ints:
    return np.frombuffer(array("i", values), np.int32)  # twice as fast as `np.array`


def _floats(values: list[float]) -> Floats:
    return np.frombuffer(array("f", values), np.float32)


def _cut(items: list[Item], counts: list[int]) -> list[tuple[Item, ...]]:
    """The items as one tuple a count."""
    rest = iter(items)
    return [tuple(islice(rest, count)) for count in counts]


def _bounds(counts: Iterable[int]) -> list[slice]:
    """Where parts of so many items lie, one after the other."""
    return [slice(start, end) for start, end in pairwise(accumulate(counts, initial=0))]
