"""A verified answer beside its text: of each of its values, where it was copied from.

Knows nothing of what was learned before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copydesk.drafting.layout import values
from copydesk.drafting.shape import Shape
from copydesk.drafting.tagger.alignment import Aligner, Copy
from copydesk.drafting.tagger.features import Units, units_of
from copydesk.drafting.tagger.targets import Targets, sort


@dataclass(frozen=True, slots=True)
class Gold:
    """A value as it is written in the answer, and where it may have been copied from."""

    text: str
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with its answer, sorted by targets."""

    text: str
    units: Units
    singles: Mapping[str, Gold]
    arrays: Mapping[str, Sequence[Mapping[str, Gold]]]

    def run(self, copy: Copy) -> str:
        """What was copied."""
        return self.text[int(self.units.starts[copy.first]) : int(self.units.ends[copy.last])]


def sample_of(shape: Shape, targets: Targets, text: str, answer: str) -> Sample | None:
    """The sample that an answer makes; None if it is none of the shape, or there is nothing in the text."""
    found = values(shape, answer)
    units = units_of(text)
    if found is None or not len(units.starts):
        return None
    answered = sort(targets, found)
    aligner = Aligner(text, units)
    copied = {single.path for single in targets.singles if single.copied}
    singles = {
        path: Gold(value, tuple(aligner.copies(value)) if path in copied else ())
        for path, value in answered.singles.items()
    }
    arrays = {path: _placed(items, aligner) for path, items in answered.arrays.items()}
    return Sample(text, units, singles, arrays)


def _placed(items: Sequence[Mapping[str, str]], aligner: Aligner) -> list[dict[str, Gold]]:
    """The items of an array, each value at one place: after the one before it if it stands there, and only once."""
    taken: set[tuple[str, int]] = set()
    last: dict[str, int] = {}
    placed: list[dict[str, Gold]] = []
    for item in items:
        golds: dict[str, Gold] = {}
        for leaf, value in item.items():
            free = [copy for copy in aligner.copies(value) if (leaf, copy.first) not in taken]
            free.sort(key=lambda copy: (copy.first <= last.get(leaf, -1), copy.first))
            if free:
                taken.add((leaf, free[0].first))
                last[leaf] = free[0].first
            golds[leaf] = Gold(value, tuple(free[:1]))
        placed.append(golds)
    return placed
