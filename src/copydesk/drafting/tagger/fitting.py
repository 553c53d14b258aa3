"""Learns a tagger from verified answers: the weights that find again what they copied from where.

The same answers, seed and earlier tagger give the same tagger. Knows nothing of threads or files.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from copydesk.drafting.shape import Shape
from copydesk.drafting.tagger.inventory import category_of, inventory, whole_item
from copydesk.drafting.tagger.perceptron import Learning, Rows, Run, Scores, rows_of, score
from copydesk.drafting.tagger.samples import Sample, sample_of
from copydesk.drafting.tagger.tagger import Kind, Tagger, in_items
from copydesk.drafting.tagger.targets import Several, Targets, targets_of

_EPOCHS = 6
_MARGIN = np.float32(0.5)
"""How much better than others the right start, and the right end, must score while learning.

A value twice that. In arrays only what is right must score so much above zero: rather too many items than too few.
"""

_MOST_BEFORE = 200
"""Answers that an earlier tagger counts as, at most."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """One value to get right: a run, one of the places it may have been copied from, or a listed value."""

    kind: int | None
    values: Sequence[int]
    places: Sequence[Run]
    value: int | None


@dataclass(slots=True)
class _Lesson:
    """A sample in numbers."""

    rows: Rows
    choices: list[_Choice] = field(default_factory=list)
    sets: dict[int, set[Run]] = field(default_factory=dict)
    """By kind, all runs."""
    flags: dict[int, bool] = field(default_factory=dict)
    """Of values that may stand in an array, whether they do."""


def fit(
    shape: Shape,
    answers: Iterable[tuple[str, str]],
    *,
    base: Tagger | None = None,
    seed: int = 0,
    pause: Callable[[], None] = lambda: None,
) -> Tagger | None:
    """A tagger learned from texts with their answers, going on from `base`; None if there is nothing to learn.

    `pause` is called every fraction of a millisecond or so; what it raises ends the learning.
    """
    targets = targets_of(shape)
    samples = []
    for text, answer in answers:
        sample = sample_of(shape, targets, text, answer)
        if sample is not None:
            samples.append(sample)
        pause()
    start = inventory(targets, samples, base)
    if not samples or not (start.kinds or start.values):
        return None
    lessons = []
    numbers = _Numbers(start)
    for sample in samples:
        lessons.append(_lesson(sample, targets, start, numbers))
        pause()
    learning = Learning(start.weights)
    order = random.Random(seed)
    for _ in range(_EPOCHS):
        order.shuffle(lessons)
        wrong = 0
        for lesson in lessons:
            wrong += _learn(learning, lesson)
            pause()
        if not wrong:
            break
    weights = learning.mean()
    if base is not None:
        before = min(base.seen, _MOST_BEFORE)
        weights = weights.mixed(start.weights, before / (before + len(samples)))
    return replace(start, weights=weights, seen=start.seen + len(samples))


class _Numbers:
    """The numbers of a tagger's kinds and values."""

    def __init__(self, tagger: Tagger) -> None:
        self.kinds = {kind: number for number, kind in enumerate(tagger.kinds)}
        self.values = {value: number for number, value in enumerate(tagger.values)}

    def values_of(self, target: str) -> list[int]:
        return [number for (owner, _), number in self.values.items() if owner == target]


def _lesson(sample: Sample, targets: Targets, tagger: Tagger, numbers: _Numbers) -> _Lesson:
    lesson = _Lesson(rows_of(sample.units.features, tagger.weights))
    for path, gold in sample.singles.items():
        kind = numbers.kinds.get(Kind(path))
        places = [(copy.first, copy.last) for copy in gold.copies] if kind is not None else []
        value = None if places else numbers.values.get((path, gold.text))
        if places or value is not None:
            lesson.choices.append(_Choice(kind, numbers.values_of(path), places, value))
    for several in targets.arrays:
        _add_array(lesson, several, sample, tagger, numbers)
    return lesson


def _add_array(lesson: _Lesson, several: Several, sample: Sample, tagger: Tagger, numbers: _Numbers) -> None:
    whole = in_items(several, "")
    targets = {whole, *(in_items(several, leaf) for leaf in several.leaves())}
    lesson.sets.update({number: set() for kind, number in numbers.kinds.items() if kind.target in targets})
    lesson.flags.update({number: False for (owner, _), number in numbers.values.items() if owner in targets})
    records = tagger.records.get(several.path)
    for item in sample.arrays.get(several.path, ()):
        if several.keys and records is None:
            number = numbers.values.get((whole, whole_item(item)))
            if number is not None:
                lesson.flags[number] = True
        for leaf, gold in item.items():
            target = in_items(several, leaf)
            category = category_of(records, item) if records and leaf == records.anchor else ()
            kind = numbers.kinds.get(Kind(target, category))
            if kind is not None and gold.copies:
                lesson.sets[kind].add((gold.copies[0].first, gold.copies[0].last))
            value = numbers.values.get((target, gold.text))
            if value is not None and not gold.copies:
                lesson.flags[value] = True


def _learn(learning: Learning, lesson: _Lesson) -> int:
    """One step; returns how much was wrong."""
    scores = score(learning.weights, lesson.rows)
    right = [_best(scores, choice) for choice in lesson.choices]
    strict = _handicapped(scores, lesson, right)
    first, last, totals = strict.best_runs()
    runs: list[tuple[int, Run, float]] = []
    values: list[tuple[int, float]] = []
    for choice, place in zip(lesson.choices, right, strict=True):
        picked = max(choice.values, key=lambda value: strict.values[value], default=None)
        run: Run | None = None
        if choice.kind is not None:
            total = totals[choice.kind]
            if picked is None or total > strict.values[picked]:
                run, picked = (int(first[choice.kind]), int(last[choice.kind])), None
        if run == place and picked == choice.value:
            continue
        if choice.kind is not None:
            runs += [(choice.kind, one, amount) for one, amount in ((place, 1.0), (run, -1.0)) if one is not None]
        values += [(one, amount) for one, amount in ((choice.value, 1.0), (picked, -1.0)) if one is not None]
    for kind, wanted in lesson.sets.items():
        found = set(strict.best_set(kind)) if wanted or totals[kind] > 0 else set()
        runs += [(kind, run, 1.0) for run in sorted(wanted - found)]
        runs += [(kind, run, -1.0) for run in sorted(found - wanted)]
    for value, there in lesson.flags.items():
        if (scores.values[value] < _MARGIN) if there else (scores.values[value] > -_MARGIN):
            values.append((value, 1.0 if there else -1.0))
    learning.learn(lesson.rows, runs, values)
    return len(runs) + len(values)


def _best(scores: Scores, choice: _Choice) -> Run | None:
    """The place that a value was copied from, the likeliest of several."""
    kind = choice.kind
    if kind is None or not choice.places:
        return None
    return max(choice.places, key=lambda run: scores.starts[run[0], kind] + scores.ends[run[1], kind])


def _handicapped(scores: Scores, lesson: _Lesson, right: Sequence[Run | None]) -> Scores:
    """The scores with a margin against everything that is right, in arrays only against that."""
    margins = np.full(scores.starts.shape[1], _MARGIN)
    margins[list(lesson.sets)] = 0.0
    strict = Scores(scores.starts + margins, scores.ends + margins, scores.values + 2 * _MARGIN)
    for choice, place in zip(lesson.choices, right, strict=True):
        if place is not None:
            strict.starts[place[0], choice.kind] -= _MARGIN
            strict.ends[place[1], choice.kind] -= _MARGIN
        if choice.value is not None:
            strict.values[choice.value] -= 2 * _MARGIN
    for kind, wanted in lesson.sets.items():
        for first, last in wanted:
            strict.starts[first, kind] -= 2 * _MARGIN
            strict.ends[last, kind] -= 2 * _MARGIN
    return strict
