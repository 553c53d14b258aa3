"""Which written texts are new: no copies of training rows or of each other, nothing of the rows kept for measuring.

Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterable

from copydesk.training.news.rows import NewsRow, normalise, story_keys

_SHORTEST, _LONGEST = 40, 1000


class Novelty:
    """Remembers what it has admitted, so every text is admitted once."""

    def __init__(self, train: Iterable[NewsRow], kept_back: Iterable[NewsRow]) -> None:
        self._train: set[str] = set()
        for row in train:
            self._train |= story_keys(row)
        self._kept_back: set[str] = set()
        for row in kept_back:
            self._kept_back |= story_keys(row)
        self._admitted: set[str] = set()

    def admit(self, text: str) -> bool:
        """Whether the text is well-formed and new. A training row's start or end may recur, not both."""
        if not _SHORTEST <= len(text) <= _LONGEST or "\ufffd" in text:
            return False
        keys = story_keys(NewsRow(text, 0, "written"))
        whole = normalise(text)
        if whole in self._admitted or keys <= self._train or keys & self._kept_back:
            return False
        self._admitted.add(whole)
        return True
