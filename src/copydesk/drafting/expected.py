"""An answer that somebody expects, offered value by value, and what is expected still after it was corrected.

Where a value has turned out otherwise, another guess takes over for it. Knows nothing of where expectations come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from copydesk.drafting.layout import Guess, write
from copydesk.drafting.lookup import Lookup
from copydesk.drafting.shape import Leaf, shape_of
from copydesk.drafting.strings import content
from copydesk.types import Draft, Task

ABSENT = ""
"""Stands for the text of a value that an answer leaves out."""
PRESENT = "+"
"""Stands for the text of a compound that is there."""
_ITEM = re.compile(r"(.*?)\[(\d+)\](.*)", re.DOTALL)

Items = Sequence[Mapping[str, Guess]]
"""An array's items: their values by paths relative to the item."""


class Again(Protocol):
    """Guesses anew a value that has begun otherwise than expected: `ABSENT` if it is left out; None if it cannot."""

    def __call__(self, path: str, begun: str, item: Mapping[str, str], after: int) -> Guess | None:
        """`item` holds what is settled of the array's item that the value is in, `after` where in the text the last
        value ended."""


class Expected:
    """Satisfies `Guesses`; for one draft of one text."""

    def __init__(
        self,
        singles: Mapping[str, Guess],
        arrays: Mapping[str, Items],
        lookup: Lookup,
        again: Again | None = None,
    ) -> None:
        """`singles` by path, `ABSENT` as the text of what is left out; compounds' presence by path with a `?`.

        Only `arrays` are followed when items are left out or put in; what is in others is `singles` with their indices.
        What is not expected at all is left to `lookup`.
        """
        self._singles = singles
        self._arrays = {path: _Array(items) for path, items in arrays.items()}
        self._lookup = lookup
        self._again = again

    def value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        """What is expected if it begins as the value does, else another guess."""
        guess = self._singles.get(path)
        item: Mapping[str, str] = {}
        array, index, rest = self._split(path)
        if array is not None:
            guess, item = array.expected(index).get(rest, guess), array.begun(index)
        if not _goes_on(guess, leaf, begun):
            guess = self._again(path, begun, item, self._lookup.place) if self._again else None
        if guess is None or not _goes_on(guess, leaf, begun):
            guess = self._lookup.value(path, leaf, begun)
        else:
            self._lookup.passed(guess.spans)
        if array is not None and guess is not None:
            array.guessed(index, rest, guess.text)
        return guess

    def given(self, path: str, text: str) -> None:
        """Take note of a value that stands."""
        self._lookup.given(path, text)
        array, index, rest = self._split(path)
        if array is not None:
            array.given(index, rest, text)

    def present(self, path: str) -> bool:
        """Whether an optional key is expected, or that a compound that may be null is not."""
        guess = self._singles.get(f"{path}?") or self._singles.get(path)
        array, index, rest = self._split(path)
        if array is not None:
            item = array.expected(index)
            guess = item.get(rest, Guess(ABSENT)) if item else None
            if guess is None and self._again is not None:
                guess = self._again(path, "", array.begun(index), self._lookup.place)
        if guess is None:
            return path in self._arrays or self._lookup.present(path)
        return guess.text != ABSENT

    def more(self, path: str, index: int) -> bool:
        """Whether another item is expected."""
        array = self._arrays.get(path)
        if array is not None:
            return bool(array.expected(index))
        return f"{path}[{index}]?" in self._singles or (
            f"{path}?" not in self._singles and self._lookup.more(path, index)
        )

    def _split(self, path: str) -> tuple[_Array | None, int, str]:
        """The expected array that a path lies in, the index in it and the path from there."""
        match = _ITEM.fullmatch(path) if self._arrays else None
        if match is None or match[1] not in self._arrays:
            return None, 0, ""
        return self._arrays[match[1]], int(match[2]), match[3]


def offer(
    task: Task, text: str, so_far: str, source: str, singles: Mapping[str, Guess], arrays: Mapping[str, Items]
) -> Draft | None:
    """The answer that goes on from `so_far` as expected; None if nothing can be added to that."""
    written = write(shape_of(task), so_far, Expected(singles, arrays, Lookup(text)))
    return None if written is None else Draft(written.text, source, written.spans)


class _Array:
    """Items that are expected, beside those that stand: which of them is next, though some were left out or put in."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._standing: list[dict[str, str]] = []
        self._guessed: tuple[int, dict[str, str]] = (0, {})
        """Of the last item of which anything was guessed: its index, and what."""

    def given(self, index: int, leaf: str, text: str) -> None:
        if index == len(self._standing):
            self._standing.append({})
        if index < len(self._standing):
            self._standing[index][leaf] = text

    def guessed(self, index: int, leaf: str, text: str) -> None:
        if index != self._guessed[0]:
            self._guessed = (index, {})
        self._guessed[1][leaf] = text

    def begun(self, index: int) -> Mapping[str, str]:
        """What stands of an item, and what was guessed of it since."""
        standing = self._standing[index] if index < len(self._standing) else {}
        return standing | self._guessed[1] if index == self._guessed[0] else standing

    def expected(self, index: int) -> Mapping[str, Guess]:
        """The item expected at an index, not before the last that stands; empty if there is none."""
        place = 0
        for standing in self._standing[:index]:
            place = self._after(standing, place)
        begun = self.begun(index)
        place += max(0, index - len(self._standing))
        fitting = (item for item in self._items[place:] if all(_is(item, leaf, text) for leaf, text in begun.items()))
        return next(fitting, {})

    def _after(self, standing: Mapping[str, str], place: int) -> int:
        """Where the expected items go on after one that stands and was expected from `place` on."""
        for number in range(place, len(self._items)):
            if all(_is(self._items[number], leaf, text) for leaf, text in standing.items()):
                return number + 1
        replaced = place < len(self._items) and any(
            _overlap(self._items[place], leaf, text) for leaf, text in standing.items()
        )
        return place + replaced


def _goes_on(guess: Guess | None, leaf: Leaf, begun: str) -> bool:
    """Whether a guess can stand where so much of the value is written."""
    return guess is not None and guess.text.startswith(begun) and leaf.fits(guess.text)


def _is(item: Mapping[str, Guess], leaf: str, text: str) -> bool:
    return leaf in item and item[leaf].text == text


def _overlap(item: Mapping[str, Guess], leaf: str, text: str) -> bool:
    """Whether one of two copied values is part of the other, so that it stands in its place."""
    guess = item.get(leaf)
    one, other = content(text), content(guess.text) if guess and guess.spans else None
    return bool(one and other) and (str(one) in str(other) or str(other) in str(one))
