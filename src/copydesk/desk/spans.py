"""Where in its source text a value stands: as it is, up to width, case and spaces, or not at all.

Knows nothing of models or of JSON.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from copydesk.types import Match, Span


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text as it is compared, and for each of its characters the position in the source that it came from."""

    text: str
    origins: Sequence[int]


class Source:
    """A text in which values are looked up, one after the other: one that stands twice is found at two places."""

    def __init__(self, text: str) -> None:
        self._exact = _Reading(text, range(len(text)))
        self._taken: set[int] = set()

    def find(self, value: Any) -> tuple[tuple[Span, ...], Match]:
        """The spans of a value and how it matches; none if it stands nowhere, as `""`, `true` and `null` do."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            return (), "inferred"
        written = value if isinstance(value, str) else str(value)
        whole = not isinstance(value, str)
        span = self._place(self._exact, written, whole)
        if span is not None:
            return (span,), "exact"
        span = self._place(self._folded, _fold(written).text, whole)
        return ((span,), "normalized") if span is not None else ((), "inferred")

    @cached_property
    def _folded(self) -> _Reading:
        return _fold(self._exact.text)

    def _place(self, reading: _Reading, value: str, whole: bool) -> Span | None:
        """The first place of a value that none before it has taken, else its first; a `whole` number stands alone."""
        places = []
        place = reading.text.find(value) if value else -1
        while place >= 0:
            if not whole or not _within_number(reading.text, place, place + len(value)):
                places.append(place)
                if reading.origins[place] not in self._taken:
                    break
            place = reading.text.find(value, place + 1)
        if not places:
            return None
        chosen = places[-1] if reading.origins[places[-1]] not in self._taken else places[0]
        start = reading.origins[chosen]
        self._taken.add(start)
        return Span(start, reading.origins[chosen + len(value) - 1] + 1)


def _fold(text: str) -> _Reading:
    """A text in one width and case, without spaces."""
    characters: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        for folded in unicodedata.normalize("NFKC", character).casefold():
            if not folded.isspace():
                characters.append(folded)
                origins.append(position)
    return _Reading("".join(characters), origins)


def _within_number(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start].isdigit() or text[end : end + 1].isdigit()
