"""What a tagger has to tell apart, counted from samples: kinds of runs, frequent values, and how runs are written.

What an earlier tagger knew stays, at the same place. Knows nothing of weights but their size.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from copydesk.drafting.expected import ABSENT
from copydesk.drafting.tagger.alignment import EDITS, STEM
from copydesk.drafting.tagger.perceptron import Weights
from copydesk.drafting.tagger.samples import Gold, Sample
from copydesk.drafting.tagger.tagger import Kind, Records, Tagger, as_value, in_items
from copydesk.drafting.tagger.targets import Several, Targets

Thing = TypeVar("Thing")

_MOST_KINDS = 128
_MOST_VALUES = 256
_MOST_VALUES_OF_ONE = 64
_MOST_STEMS = 512
_MOST_CATEGORIES = 64
_RARE = 2
"""Values, and categories, are learned that come so often at least; those that say that there is nothing, always."""
_HARDLY_EVER = 0.1
_NOTHING = frozenset({ABSENT, '""', "null", "true", "false"})
_RUN_CELLS, _VALUE_CELLS = 1 << 21, 1 << 20
"""Weights of a tagger, at most, unless it has very many kinds or values."""


def inventory(targets: Targets, samples: Sequence[Sample], base: Tagger | None) -> Tagger:
    """A tagger for these targets with all that `base` and the samples hold; what is new has zero weights."""
    records = {several.path: _records(several, samples) for several in targets.arrays if several.keys}
    known = {path: found for path, found in records.items() if found} | dict(base.records if base else {})
    kinds = _extended(base.kinds if base else (), _kinds(targets, samples, known), _MOST_KINDS)
    values = _extended(base.values if base else (), _values(targets, samples, known), _MOST_VALUES)
    weights = (
        base.weights.widened(len(kinds), len(values))
        if base
        else Weights.zeros(
            _bits(_RUN_CELLS, 3 * len(kinds), 12, 16), len(kinds), _bits(_VALUE_CELLS, len(values), 10, 14), len(values)
        )
    )
    copied = _copied(samples)
    return Tagger(
        weights=weights,
        kinds=kinds,
        values=values,
        edits={**(base.edits if base else {}), **_edits(copied)},
        stems=_stems(copied, base.stems if base else {}),
        usual={**(base.usual if base else {}), **_usual(targets, samples)},
        records=known,
        filled=frozenset(several.path for several in targets.arrays if _is_filled(several, samples)),
        seen=base.seen if base else 0,
    )


def category_of(records: Records, item: Mapping[str, Gold]) -> tuple[str, ...]:
    """The category of an item of an array of records."""
    return tuple(item[path].text if path in item else ABSENT for path in records.categories)


def _kinds(targets: Targets, samples: Sequence[Sample], records: Mapping[str, Records]) -> list[Kind]:
    kinds = [Kind(single.path) for single in targets.singles if single.copied]
    for several in targets.arrays:
        if not several.keys:
            kinds.append(Kind(in_items(several, "")))
        elif several.path in records:
            found = records[several.path]
            kinds += _categories(several, samples, found)
            kinds += (
                Kind(in_items(several, leaf))
                for leaf in several.leaves()
                if leaf != found.anchor and leaf not in found.categories
            )
    return kinds


def _categories(several: Several, samples: Sequence[Sample], records: Records) -> list[Kind]:
    """The kinds of an anchor, by category, in the order in which answers tend to give them."""
    places: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for sample in samples:
        items = sample.arrays.get(several.path, ())
        for index, item in enumerate(items):
            places[category_of(records, item)].append((index + 0.5) / len(items))
    frequent = [category for category, found in places.items() if len(found) >= _RARE]
    frequent.sort(key=lambda category: (-len(places[category]), category))
    kept = sorted(frequent[:_MOST_CATEGORIES], key=lambda category: (fmean(places[category]), category))
    return [Kind(in_items(several, records.anchor), category) for category in kept]


def _records(several: Several, samples: Sequence[Sample]) -> Records | None:
    """How an array's records are told apart; None if nothing of them is copied."""
    items = [item for sample in samples for item in sample.arrays.get(several.path, ())]
    if not items:
        return None
    shares = {leaf: fmean(_is_copied(item, leaf) for item in items) for leaf in several.leaves()}
    anchor = max(several.leaves(), key=lambda leaf: shares[leaf])
    if shares[anchor] < 0.5:
        return None
    choices = {f".{key.name}" for key in several.keys if getattr(key.shape, "choices", ())}
    categories = [
        leaf
        for leaf in several.leaves()
        if leaf != anchor and (leaf in choices or (shares[leaf] < 0.5 and _few([item.get(leaf) for item in items])))
    ]
    places = [
        [item[anchor].copies[0].first for item in sample.arrays.get(several.path, ()) if _is_copied(item, anchor)]
        for sample in samples
    ]
    ascending = [found == sorted(found) for found in places if len(found) > 1]
    return Records(anchor, tuple(categories), not ascending or fmean(ascending) >= 0.5)


def _is_copied(item: Mapping[str, Gold], leaf: str) -> bool:
    return leaf in item and bool(item[leaf].copies)


def _few(golds: Sequence[Gold | None]) -> bool:
    """Whether values are of few different sorts."""
    return len({gold.text for gold in golds if gold}) <= min(_MOST_CATEGORIES, 2 + len(golds) // 4)


def whole_item(item: Mapping[str, Gold]) -> str:
    """An item of an array of records as one value."""
    return as_value({path: gold.text for path, gold in item.items()})


def _values(targets: Targets, samples: Sequence[Sample], records: Mapping[str, Records]) -> list[tuple[str, str]]:
    """The frequent values that are not copied, by target."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        for path, gold in sample.singles.items():
            if not any(copy.edit != STEM for copy in gold.copies):
                counts[path][gold.text] += 1
        for several in targets.arrays:
            for item in sample.arrays.get(several.path, ()) if several.path not in records else ():
                if several.keys:
                    counts[in_items(several, "")][whole_item(item)] += 1
                elif not item[""].copies:
                    counts[in_items(several, "")][item[""].text] += 1
    found = [
        (count, target, text)
        for target, texts in counts.items()
        for text, count in texts.most_common(_MOST_VALUES_OF_ONE)
        if count >= _RARE or text in _NOTHING
    ]
    found.sort(key=lambda value: (-value[0], value[1:]))
    return [(target, text) for _, target, text in found]


def _copied(samples: Iterable[Sample]) -> dict[str, list[tuple[str, str, str]]]:
    """By target: the runs that were copied, the values' texts, and the edits."""
    copied: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for sample in samples:
        golds = list(sample.singles.items())
        for path, items in sample.arrays.items():
            golds += [(f"{path}[]{leaf}", gold) for item in items for leaf, gold in item.items()]
        for target, gold in golds:
            if gold.copies:
                copied[target].append((sample.run(gold.copies[0]), gold.text, gold.copies[0].edit))
    return copied


def _edits(copied: Mapping[str, Sequence[tuple[str, str, str]]]) -> dict[str, str]:
    """By target the edit that writes most values right."""
    best = {}
    for target, found in copied.items():
        names = list(dict.fromkeys(edit for _, _, edit in found if edit != STEM))
        if names:
            right = {name: sum(EDITS[name](run) == text for run, text, _ in found) for name in names}
            best[target] = max(names, key=lambda name: right[name])
    return best


def _stems(
    copied: Mapping[str, Sequence[tuple[str, str, str]]], base: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    stems = {target: dict(known) for target, known in base.items()}
    for target, found in copied.items():
        counts = Counter((run, text) for run, text, edit in found if edit == STEM)
        for (run, text), _ in counts.most_common(_MOST_STEMS):
            known = stems.setdefault(target, {})
            if len(known) < _MOST_STEMS:
                known.setdefault(run, text)
    return stems


def _is_filled(several: Several, samples: Sequence[Sample]) -> bool:
    empty = sum(not sample.arrays.get(several.path) for sample in samples)
    return empty <= _HARDLY_EVER * len(samples)


def _usual(targets: Targets, samples: Sequence[Sample]) -> dict[str, str]:
    usual = {}
    for several in targets.arrays:
        for leaf in several.leaves() if several.keys else ():
            texts = Counter(
                item[leaf].text for sample in samples for item in sample.arrays.get(several.path, ()) if leaf in item
            )
            if texts:
                usual[in_items(several, leaf)] = texts.most_common(1)[0][0]
    return usual


def _extended(known: Sequence[Thing], found: Iterable[Thing], most: int) -> tuple[Thing, ...]:
    """Both, without repetition, those found only up to `most` in all."""
    both = list(dict.fromkeys([*known, *found]))
    return tuple(both[: max(most, len(known))])


def _bits(cells: int, columns: int, least: int, most: int) -> int:
    """Of the number of rows that makes about so many cells."""
    return min(most, max(least, (cells // max(1, columns)).bit_length() - 1))
