"""How long an answer's parts may grow where the schema does not say: a small model that runs away is stopped here.

Derived from the text, because what is extracted from a text is seldom longer than it. Knows nothing of schemas.
"""

from __future__ import annotations

from dataclasses import dataclass

_FEWEST_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class Bounds:
    """Most code points of a string, and most items of an array or of a map."""

    characters: int
    items: int

    @classmethod
    def of(cls, text: str) -> Bounds:
        """Room for the whole text in each string, rounded up to a power of two so that texts share their grammars."""
        characters = max(_FEWEST_CHARACTERS, 1 << (len(text) - 1).bit_length())
        return cls(characters, characters // 2)
