"""A source text read in several ways, to find in it what an answer copies: as it is, in one width, without spaces.

Knows nothing of answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from copydesk.types import Span

_WIDTHS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "\u3000\n\r\t\xa0"), " ")
_LONGEST_LIST = 64
"""Places of one value that are looked at."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is compared and copied from, and for each of its characters the position in the source."""

    text: str
    origins: Sequence[int]

    def span(self, start: int, end: int) -> Span:
        """Where a part of the reading, at least a character long, stands in the source."""
        return Span(self.origins[start], self.origins[end - 1] + 1)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: a range of a reading."""

    reading: Reading
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.reading.span(self.start, self.end)


class Readings:
    """The readings of one text, each made when it is first needed."""

    def __init__(self, text: str) -> None:
        self.exact = Reading(text, range(len(text)))

    @cached_property
    def narrow(self) -> Reading:
        """Half-width, and every space a blank."""
        return Reading(self.exact.text.translate(_WIDTHS), self.exact.origins)

    @cached_property
    def dense(self) -> Reading:
        """Half-width, without spaces."""
        kept = [place for place, character in enumerate(self.narrow.text) if not character.isspace()]
        return Reading("".join(self.narrow.text[place] for place in kept), kept)

    def find(self, wanted: str, near: int) -> Place | None:
        """The place of `wanted` closest after the source's position `near`, else the last one before it.

        Whole words are preferred to parts of words.
        """
        if not wanted:
            return None
        for reading in (self.exact, self.narrow, self.dense):
            best: tuple[bool, bool, int] | None = None
            found = -1
            place = reading.text.find(wanted)
            for _ in range(_LONGEST_LIST):
                if place < 0:
                    break
                distance = reading.origins[place] - near
                rank = (_within_word(reading.text, place), distance < 0, abs(distance))
                if best is None or rank < best:
                    best, found = rank, place
                place = reading.text.find(wanted, place + 1)
            if best is not None:
                return Place(reading, found, found + len(wanted))
        return None


def _within_word(text: str, place: int) -> bool:
    """Whether a word of letters, or a number, that began before goes on at `place`."""
    before, here = text[place - 1 : place], text[place : place + 1]
    if before.isascii() and here.isascii():
        return (before.isalpha() and here.isalpha()) or (before.isdigit() and here.isdigit())
    return False
