"""Which strings are runs of a text, up to width and spaces, read a character at a time.

Sets of places in the text are integers, a bit for each place, so that a step takes the same few operations however
often a character stands in the text. Knows nothing of answers.
"""

from __future__ import annotations

import unicodedata

MOST_RUNS = 4
"""Runs that a value of several may have: more of them would let any words of a long text be put together."""

Reached = tuple[int, ...]
"""For each number of runs a value may have had so far, the places in the text where it may go on."""

_NORMAL = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF01, 0xFFEF)}
_WIDTHS = {code: normal for code, normal in _NORMAL.items() if len(normal) == 1 and normal != chr(code)}
_SPELLINGS: dict[str, list[str]] = {" ": [chr(code) for code in range(0x3001) if chr(code).isspace()]}
for _code, _character in _WIDTHS.items():
    _SPELLINGS.setdefault(_character, [_character]).append(chr(_code))


def spellings(character: str) -> list[str]:
    """The characters that are compared as a folded one is."""
    return _SPELLINGS.get(character, [character])


def folded(character: str) -> str:
    """A character as it is compared: in one width, every space a blank."""
    if character.isascii() and character > " ":
        return character
    return " " if character.isspace() else _WIDTHS.get(ord(character), character)


class Runs:
    """The runs of one text. A value may leave out spaces of the text, and characters without width; it adds none."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._all = (1 << len(text)) - 1
        self._standing: dict[str, int] = {}
        self._skipped = 0
        bit = 1
        for character in map(folded, text):
            self._standing[character] = self._standing.get(character, 0) | bit
            bit <<= 1
        for character, places in self._standing.items():
            if character == " " or unicodedata.category(character) == "Cf":
                self._skipped |= places

    def start(self, most: int) -> Reached:
        """The empty string, of which at most `most` runs are to be made."""
        return (self._all, *(0,) * (most - 1))

    def after(self, reached: Reached, character: str, left: int = 0) -> Reached | None:
        """What is reached with one more character, if `left` others at least can follow it; None if nothing is."""
        character = folded(character)
        standing = self._standing.get(character, 0)
        if left > 0:
            standing &= (1 << max(0, self._length - left)) - 1
        if not standing:
            return None
        moved = []
        earlier = 0
        for places in reached:
            if not places and not earlier:
                moved.append(0)
                continue
            here = places if character == " " else self._past_skipped(places)
            moved.append(((here | self._from(earlier)) & standing) << 1)
            earlier = places
        return tuple(moved) if any(moved) else None

    def following(self, reached: Reached) -> set[str]:
        """The characters, folded, that may come next; a few that may not can be among them."""
        places = 0
        for own in reached:
            places |= self._past_skipped(own)
        if len(reached) > 1:
            for own in reached[:-1]:
                places |= self._from(own)
        return {character for character, standing in self._standing.items() if standing & places}

    def _from(self, places: int) -> int:
        """Every place from the first of some on."""
        return self._all & -(places & -places)

    def _past_skipped(self, places: int) -> int:
        """The places, and those reached from them over what may be left out: the carry of an addition runs there."""
        return places | (((places & self._skipped) + self._skipped) ^ self._skipped)
