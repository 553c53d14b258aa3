"""A bounded sample of all texts and answers of a task so far, each kept with the same chance.

Knows nothing of what they hold.
"""

from __future__ import annotations

import random

_LONGEST = 20_000


class Reservoir:
    """Keeps at most so many texts, and so many characters of text; which, depends on the seed and on what came."""

    def __init__(self, *, most: int = 2000, most_characters: int = 400_000, seed: int = 0) -> None:
        self._most = most
        self._most_characters = most_characters
        self._random = random.Random(seed)
        self._kept: list[tuple[str, str]] = []
        self._characters = 0
        self.seen = 0

    def add(self, text: str, answer: str) -> None:
        """Keep this one, or not."""
        self.seen += 1
        if len(text) > min(_LONGEST, self._most_characters):
            return
        if len(self._kept) < self._most and self._characters + len(text) <= self._most_characters:
            self._kept.append((text, answer))
            self._characters += len(text)
            return
        place = self._random.randrange(self.seen)
        if place >= len(self._kept):
            return
        self._characters += len(text) - len(self._kept[place][0])
        self._kept[place] = (text, answer)
        while self._characters > self._most_characters:
            dropped, _ = self._kept.pop(self._random.randrange(len(self._kept)))
            self._characters -= len(dropped)

    def all(self) -> list[tuple[str, str]]:
        """What is kept: texts with their answers."""
        return list(self._kept)
