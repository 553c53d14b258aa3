"""One text and what a tagger expects of its answer.

Where a value begins otherwise than expected, the best that begins so takes its place. Knows nothing of how a tagger
came to be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from copydesk.drafting.expected import ABSENT, Expected, Items
from copydesk.drafting.layout import Guess
from copydesk.drafting.lookup import Lookup
from copydesk.drafting.strings import begun_content
from copydesk.drafting.tagger.alignment import EDITS
from copydesk.drafting.tagger.features import Integers, units_of
from copydesk.drafting.tagger.perceptron import Run, Scores, rows_of, score
from copydesk.drafting.tagger.tagger import Records, Tagger, as_item, in_items
from copydesk.drafting.tagger.targets import Several, Targets
from copydesk.types import Span

_INDEX = re.compile(r"\[\d+\]")
_MOST_STARTS = 32


@dataclass(frozen=True, slots=True)
class _Places:
    """Where units start and end."""

    starts: Integers
    ends: Integers


class Tagged:
    """One text, and what a tagger expects of its answer. The work is done once, when first asked."""

    def __init__(self, tagger: Tagger, targets: Targets, text: str) -> None:
        self._tagger = tagger
        self._targets = targets
        self._text = text

    def guesses(self) -> Expected | None:
        """A fresh set of guesses; None if the text has nothing to copy."""
        if self._scores is None:
            return None
        return Expected(self._singles, self._arrays, Lookup(self._text), self._again)

    @cached_property
    def _units(self) -> _Places:
        return self._read[0]

    @cached_property
    def _scores(self) -> Scores | None:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[_Places, Scores | None]:
        """The features are many times as large as the text, so nothing keeps them."""
        units = units_of(self._text)
        if not len(units.starts):
            return _Places(units.starts, units.ends), None
        scores = score(self._tagger.weights, rows_of(units.features, self._tagger.weights))
        return _Places(units.starts, units.ends), scores

    @cached_property
    def _singles(self) -> dict[str, Guess]:
        scores = self._scores
        if scores is None:
            return {}
        first, last, totals = self._best_runs
        values = scores.values.tolist()
        found: dict[str, Guess] = {}
        for single in self._targets.singles:
            options: list[tuple[float, Guess]] = []
            for kind in self._runs.get(single.path, ()):
                options.append((totals[kind], self._written(single.path, (first[kind], last[kind]))))
            for value in self._values.get(single.path, ()):
                options.append((values[value], Guess(self._tagger.values[value][1])))
            if options:
                found[single.path] = max(options, key=lambda option: option[0])[1]
        return found

    @cached_property
    def _arrays(self) -> dict[str, Items]:
        arrays: dict[str, Items] = {}
        for several in self._targets.arrays:
            if several.keys and several.path in self._tagger.records:
                arrays[several.path] = self._records(several, self._tagger.records[several.path])
            elif not several.keys:
                arrays[several.path] = self._plain_items(several)
            elif several.path in self._wholes or several.path not in self._tagger.filled:
                arrays[several.path] = self._whole_items(several.path)
        return arrays

    def _whole_items(self, array: str) -> Items:
        """The records of an array of which nothing is copied; at least one where it is hardly ever empty."""
        scores = self._scores
        if scores is None:
            return []
        scored = [(float(scores.values[value]), item) for value, item in self._wholes.get(array, ())]
        found = [item for points, item in scored if points > 0]
        if not found and scored and array in self._tagger.filled:
            found = [max(scored, key=lambda one: one[0])[1]]
        return [{path: Guess(text) for path, text in item.items()} for item in found]

    def _plain_items(self, several: Several) -> Items:
        target = in_items(several, "")
        runs = sorted(run for run, _ in self._found(several.path, target))
        guesses = [self._written(target, run) for run in runs]
        scores = self._scores
        for value in self._values.get(target, ()) if scores else ():
            if scores and scores.values[value] > 0:
                guesses.append(Guess(self._tagger.values[value][1]))
        return [{"": guess} for guess in guesses]

    def _records(self, several: Several, records: Records) -> Items:
        anchor = in_items(several, records.anchor)
        found = self._found(several.path, anchor)
        found.sort(key=lambda item: item[0] if records.in_text_order else (item[1], *item[0]))
        items: list[dict[str, Guess]] = []
        for run, kind in found:
            category = zip(records.categories, self._tagger.kinds[kind].category, strict=True)
            listed = {path: Guess(text) for path, text in category}
            items.append({records.anchor: self._written(anchor, run), **listed})
        for leaf in several.leaves():
            if leaf != records.anchor and leaf not in records.categories:
                self._fill(items, several, records.anchor, leaf)
        return items

    def _fill(self, items: Sequence[dict[str, Guess]], several: Several, anchor: str, leaf: str) -> None:
        """Give each item the value that stands nearest after its anchor, or the usual one."""
        target = in_items(several, leaf)
        runs = sorted(run for kind in self._runs.get(target, ()) for run in self._best_set(kind))
        free = [self._written(target, run) for run in runs]
        usual = self._tagger.usual.get(target)
        for item in items:
            start = item[anchor].spans[0].start
            later = [guess for guess in free if guess.spans[0].start >= start]
            if later:
                free.remove(later[0])
                item[leaf] = later[0]
            elif usual is not None:
                item[leaf] = Guess(usual)

    def _found(self, array: str, target: str) -> list[tuple[Run, int]]:
        """The runs that an array copies, with their kinds; at least one where the array is hardly ever empty."""
        kinds = self._runs.get(target, [])
        found = [(run, kind) for kind in kinds for run in self._best_set(kind)]
        if found or not kinds or array not in self._tagger.filled or self._scores is None:
            return found
        first, last, totals = self._best_runs
        best = max(kinds, key=lambda kind: totals[kind])
        return [((first[best], last[best]), best)]

    def _best_set(self, kind: int) -> list[Run]:
        scores = self._scores
        return [] if scores is None or self._best_runs[2][kind] <= 0 else scores.best_set(kind)

    @cached_property
    def _best_runs(self) -> tuple[list[int], list[int], list[float]]:
        """Of each kind the best run's first unit, its last and its score."""
        if self._scores is None:
            return [], [], []
        first, last, totals = self._scores.best_runs()
        return first.tolist(), last.tolist(), totals.tolist()

    def _written(self, target: str, run: Run) -> Guess:
        """A run as the value of a target."""
        start, end = int(self._units.starts[run[0]]), int(self._units.ends[run[1]])
        piece = self._text[start:end]
        text = self._tagger.stems.get(target, {}).get(piece)
        if text is None:
            text = EDITS[self._tagger.edits.get(target, "as written")](piece)
        return Guess(text, (Span(start, end),))

    @cached_property
    def _runs(self) -> dict[str, list[int]]:
        return _grouped([kind.target for kind in self._tagger.kinds])

    @cached_property
    def _values(self) -> dict[str, list[int]]:
        return _grouped([target for target, _ in self._tagger.values])

    @cached_property
    def _wholes(self) -> dict[str, list[tuple[int, dict[str, str]]]]:
        """By array of records, the frequent items as a whole, with their numbers among the values."""
        keyed = {in_items(several, ""): several.path for several in self._targets.arrays if several.keys}
        wholes: dict[str, list[tuple[int, dict[str, str]]]] = {}
        for target, numbers in self._values.items():
            if target in keyed:
                wholes[keyed[target]] = [(number, as_item(self._tagger.values[number][1])) for number in numbers]
        return wholes

    def _again(self, path: str, begun: str, item: Mapping[str, str], after: int) -> Guess | None:
        """The best value that goes on from what is begun: a run that starts with it, or a listed value."""
        scores = self._scores
        if scores is None:
            return None
        target = _INDEX.sub("[]", path)
        options: list[tuple[float, Guess]] = []
        for value in self._values.get(target, ()):
            text = self._tagger.values[value][1]
            if text and text.startswith(begun):
                options.append((float(scores.values[value]), Guess(text)))
        array, _, leaf = target.partition("[]")
        for value, whole in self._wholes.get(array, ()):
            text = whole.get(leaf, ABSENT)
            if text.startswith(begun) and all(whole.get(other) == said for other, said in item.items()):
                options.append((float(scores.values[value]), Guess(text)))
        kinds = self._kinds_within(target, item)
        for first, least in self._starting_with(begun, after if target != path else 0) if kinds else ():
            for kind in kinds:
                last = least + int(scores.ends[least:, kind].argmax())
                guess = self._written(target, (first, last))
                if guess.text.startswith(begun):
                    options.append((float(scores.starts[first, kind] + scores.ends[last, kind]), guess))
        return max(options, key=lambda option: option[0])[1] if options else None

    def _kinds_within(self, target: str, item: Mapping[str, str]) -> list[int]:
        """The kinds of a target that agree with what stands of the item it is in."""
        kinds = self._runs.get(target, [])
        records = self._tagger.records.get(target.partition("[]")[0])
        if records is None or not item:
            return kinds
        standing = [item.get(path) for path in records.categories]

        def agrees(kind: int) -> bool:
            category = self._tagger.kinds[kind].category
            return all(said in (None, text) for said, text in zip(standing, category, strict=False))

        agreeing = [kind for kind in kinds if agrees(kind)]
        return agreeing or kinds

    def _starting_with(self, begun: str, after: int) -> list[Run]:
        """Where the text goes on as a value is begun: the units it may start at, and the first it may end at.

        Only what starts at `after` or later, if anything does.
        """
        written = begun_content(begun) if begun.startswith('"') or not begun else begun
        if written is None:
            return []
        found = [start for start in self._units.starts.tolist() if self._text.startswith(written, start)]
        starts = ([start for start in found if start >= after] or found)[:_MOST_STARTS]
        firsts = np.searchsorted(self._units.starts, starts)
        ends = np.searchsorted(self._units.ends, [start + max(1, len(written)) for start in starts])
        return [run for run in zip(firsts.tolist(), ends.tolist(), strict=True) if run[1] < len(self._units.ends)]


def _grouped(owners: Sequence[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, owner in enumerate(owners):
        groups.setdefault(owner, []).append(number)
    return groups
