"""A linear model that picks runs of units and listed values: its weights, its scores, its best picks and how it learns.

A run's score is that of its first unit as a start, of its last as an end, and a little of every unit as inside; so the
best run is found by one running maximum, without a search. Knows nothing of what runs and values stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from copydesk.drafting.tagger.features import ALWAYS, BITS, PAIR, WORD, Hashes, Integers

Floats = npt.NDArray[np.float32]
Run = tuple[int, int]
"""First and last unit."""

_INSIDE = 0.2
"""What being inside a run counts beside its ends: there are many units inside."""
_BAG = (WORD, PAIR)


@dataclass(frozen=True, slots=True)
class Weights:
    """Rows are hashed features, their number a power of two."""

    runs: Floats
    """`[rows, 3 * kinds of runs]`: as start, as end, as inside."""
    values: Floats
    """`[rows, values]`."""

    @classmethod
    def zeros(cls, run_bits: int, runs: int, value_bits: int, values: int) -> Weights:
        return cls(np.zeros((1 << run_bits, 3 * runs), np.float32), np.zeros((1 << value_bits, values), np.float32))

    @property
    def kinds(self) -> int:
        """Kinds of runs."""
        return int(self.runs.shape[1]) // 3

    def widened(self, runs: int, values: int) -> Weights:
        """A copy with room for more kinds of runs and more values, after those there are."""
        wide = Weights.zeros(_bits(self.runs), runs, _bits(self.values), values)
        for part in range(3):
            wide.runs[:, part * runs : part * runs + self.kinds] = self.runs[:, part * self.kinds :][:, : self.kinds]
        wide.values[:, : self.values.shape[1]] = self.values
        return wide

    def mixed(self, other: Weights, share: float) -> Weights:
        """With a share of others of the same size."""
        one, two = np.float32(1.0 - share), np.float32(share)
        return Weights(one * self.runs + two * other.runs, one * self.values + two * other.values)


@dataclass(frozen=True, slots=True)
class Rows:
    """Where a text's features stand in the weights."""

    runs: Integers
    """`[FEATURES, units]`."""
    values: Integers
    """`[features of the whole text]`, the one that is always there last."""
    shares: Floats
    """How much each of them counts."""


def rows_of(features: Hashes, weights: Weights) -> Rows:
    """The rows of a text's features, of which there is at least one unit's."""
    bag = features[_BAG, :].ravel()
    always = features[ALWAYS, :1]
    shares = np.full(len(bag) + 1, 1.0 / np.sqrt(len(bag)), np.float32)
    shares[-1] = 1.0
    return Rows(_rows(features, _bits(weights.runs)), _rows(np.append(bag, always), _bits(weights.values)), shares)


def _rows(features: Hashes, bits: int) -> Integers:
    return (features >> np.uint64(BITS - bits)).astype(np.int64)


def _bits(table: Floats) -> int:
    return len(table).bit_length() - 1


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of a run is that of its start plus that of its end, what lies inside counted in."""

    starts: Floats
    """`[units, kinds]`."""
    ends: Floats
    """`[units, kinds]`."""
    values: Floats
    """`[values]`."""

    def best_runs(self) -> tuple[Integers, Integers, Floats]:
        """Of each kind the best run: its first unit, its last, its score."""
        totals = np.maximum.accumulate(self.starts, axis=0)
        totals += self.ends
        last = totals.argmax(axis=0)
        kinds = np.arange(totals.shape[1])
        reached = np.where(np.arange(len(totals))[:, None] <= last, self.starts, -np.inf)
        return reached.argmax(axis=0), last, totals[last, kinds]

    def best_set(self, kind: int) -> list[Run]:
        """The runs of one kind, none overlapping, whose scores are positive and make the highest sum."""
        best, inside, start, before, latest = 0.0, -np.inf, 0, -1, -1
        links: list[tuple[Run, int]] = []
        # Runs that may be in the set, each with the place in this list of the one before it.
        starts, ends = self.starts[:, kind].tolist(), self.ends[:, kind].tolist()
        for unit, (as_start, as_end) in enumerate(zip(starts, ends, strict=True)):
            if best + as_start > inside:
                inside, start, before = best + as_start, unit, latest
            if inside + as_end > best:
                best = inside + as_end
                latest = len(links)
                links.append(((start, unit), before))
        runs: list[Run] = []
        while latest >= 0:
            run, latest = links[latest]
            runs.append(run)
        return runs[::-1]


def score(weights: Weights, rows: Rows) -> Scores:
    """The scores of a text."""
    kinds = weights.kinds
    units = weights.runs.take(rows.runs, axis=0).sum(axis=0)
    inside = np.zeros((len(units) + 1, kinds), np.float32)
    np.cumsum(np.float32(_INSIDE) * units[:, 2 * kinds :], axis=0, out=inside[1:])
    values = rows.shares @ weights.values.take(rows.values, axis=0)
    return Scores(units[:, :kinds] - inside[:-1], units[:, kinds : 2 * kinds] + inside[1:], values)


class Learning:
    """Weights while they are learned; the mean over all steps is what is kept."""

    def __init__(self, start: Weights) -> None:
        self.weights = Weights(start.runs.copy(), start.values.copy())
        self._late = Weights(np.zeros_like(start.runs), np.zeros_like(start.values))
        """Every change times the step it was made at: what is missing from the mean."""
        self._step = 1.0

    def learn(self, rows: Rows, runs: Sequence[tuple[int, Run, float]], values: Sequence[tuple[int, float]]) -> None:
        """One step: raise or lower the scores of some runs, by kind, and of some values."""
        for kind, (first, last), amount in runs:
            kinds = self.weights.kinds
            self._add(self.weights.runs, self._late.runs, rows.runs[:, first], kind, amount)
            self._add(self.weights.runs, self._late.runs, rows.runs[:, last], kinds + kind, amount)
            inner = rows.runs[:, first : last + 1].ravel()
            self._add(self.weights.runs, self._late.runs, inner, 2 * kinds + kind, amount * _INSIDE)
        for value, amount in values:
            self._add(self.weights.values, self._late.values, rows.values, value, amount * rows.shares)
        self._step += 1.0

    def mean(self) -> Weights:
        """The mean of the weights over all steps."""
        share = np.float32(1.0 / self._step)
        return Weights(self.weights.runs - self._late.runs * share, self.weights.values - self._late.values * share)

    def _add(self, table: Floats, late: Floats, rows: Integers, column: int, amount: float | Floats) -> None:
        np.add.at(table[:, column], rows, amount)
        np.add.at(late[:, column], rows, np.float32(self._step) * amount)
