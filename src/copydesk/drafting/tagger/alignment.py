"""How a value of a verified answer was copied from its text: from which units, and what was changed in writing it.

Knows nothing of schemas.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from copydesk.drafting.comparing import compared
from copydesk.drafting.readings import Reading
from copydesk.drafting.strings import content, quoted
from copydesk.drafting.tagger.features import Units

_MOST_PLACES = 16
_SHORTEST_STEM = 2
_SHORTEST_NUMBER = 5
_PARTED_NUMBER = re.compile(r"\d[\d\s().\-]*\d")


def _number(text: str) -> str:
    figures = re.sub(r"[^\d.\-]", "", text)
    before, point, after = figures.partition(".")
    return (before.lstrip("0") or "0") + point + after


def _shortened(text: str) -> str:
    number = _number(text)
    return number.rstrip("0").rstrip(".") if "." in number else number


def _as_string(edit: Callable[[str], str], text: str) -> str:
    return quoted(edit(text))


_STRING_EDITS: Mapping[str, Callable[[str], str]] = {
    "as written": lambda text: text,
    "one space": lambda text: re.sub(r"\s+", " ", text),
    "one width": lambda text: unicodedata.normalize("NFKC", text),
    "no space": lambda text: re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)),
    "lower case": str.lower,
    "upper case": str.upper,
    "title case": str.title,
    "digits": lambda text: re.sub(r"\D", "", text),
}
_NUMBER_EDITS: Mapping[str, Callable[[str], str]] = {
    "number": _number,
    "short number": _shortened,
    "decimal": lambda text: _shortened(text) if "." in _shortened(text) else f"{_shortened(text)}.0",
}
EDITS: Mapping[str, Callable[[str], str]] = {
    **{name: partial(_as_string, edit) for name, edit in _STRING_EDITS.items()},
    **_NUMBER_EDITS,
}
"""How a run of the text may be written as a value: each gives the value's JSON text."""
STEM = "stem"
"""Stands for an edit where only the value's beginning is a run of the text."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A value copied from the units `first` to `last`, written with `edit`."""

    first: int
    last: int
    edit: str


class Aligner:
    """Finds values in one text."""

    def __init__(self, text: str, units: Units) -> None:
        self._text = text
        self._starts = {start: unit for unit, start in enumerate(units.starts.tolist())}
        self._ends = {end: unit for unit, end in enumerate(units.ends.tolist())}

    def copies(self, value: str) -> list[Copy]:
        """The places that a value, given as JSON text, may have been copied from; `STEM` only if there is no other."""
        written = content(value)
        if written is None:
            return self._numbers(value)
        if not written.strip():
            return []
        found = [
            Copy(*units, "as written")
            for place in _places(self._text, written)
            if (units := self._units(place, place + len(written)))
        ]
        return found or self._folded(value, written) or self._digits(written) or self._stem(written)

    def text(self, copy: Copy, units: Units) -> str:
        """The run of the text that was copied."""
        return self._text[int(units.starts[copy.first]) : int(units.ends[copy.last])]

    def _units(self, start: int, end: int) -> tuple[int, int] | None:
        first, last = self._starts.get(start), self._ends.get(end)
        return None if first is None or last is None else (first, last)

    def _folded(self, value: str, written: str) -> list[Copy]:
        """Where it stands up to width, case and spaces."""
        wanted = compared(written).text
        reading = self._reading
        found = []
        for place in _places(reading.text, wanted):
            span = reading.span(place, place + len(wanted))
            units = self._units(span.start, span.end)
            run = self._text[span.start : span.end]
            edit = next((name for name in _STRING_EDITS if EDITS[name](run) == value), None)
            if units and edit:
                found.append(Copy(*units, edit))
        return found

    def _digits(self, written: str) -> list[Copy]:
        """Where a number stands, such as a phone's, that is written without what parts it."""
        if len(written) < _SHORTEST_NUMBER or not written.isdecimal():
            return []
        return [
            Copy(*units, "digits")
            for match in _PARTED_NUMBER.finditer(self._text)
            if EDITS["digits"](match.group()) == quoted(written) and (units := self._units(*match.span()))
        ]

    def _stem(self, written: str) -> list[Copy]:
        for length in range(len(written) - 1, max(_SHORTEST_STEM, len(written) // 2) - 1, -1):
            place = self._text.find(written[:length])
            units = self._units(place, place + length) if place >= 0 else None
            if units:
                return [Copy(*units, STEM)]
        return []

    def _numbers(self, value: str) -> list[Copy]:
        if not value[:1].isdigit() and value[:1] != "-":
            return []
        found = []
        for match in re.finditer(r"-?\d+(?:[.,]\d+)*", self._text):
            edit = next((name for name in _NUMBER_EDITS if EDITS[name](match.group()) == value), None)
            units = self._units(*match.span())
            if edit and units:
                found.append(Copy(*units, edit))
        return found[:_MOST_PLACES]

    @cached_property
    def _reading(self) -> Reading:
        return compared(self._text)


def _places(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    place = text.find(wanted) if wanted else -1
    while place >= 0 and len(places) < _MOST_PLACES:
        places.append(place)
        place = text.find(wanted, place + 1)
    return places
