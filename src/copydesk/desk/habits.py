"""What tokens a model writes a text with, where it does not take the tokenizer's: noted of a task, to draft with.

Held to what is legal, a model takes the best token that is, often a shorter or longer one of the same text; a draft in
the tokenizer's own would then be right and fall all the same. Knows nothing of drafts or texts.
"""

from __future__ import annotations

_MOST = 4096


class Habits:
    """Of one task on one model. Safe to share between threads: what one notes, another sees or does not."""

    def __init__(self) -> None:
        self._instead: dict[int, int] = {}

    def instead(self, usual: int) -> int | None:
        """What the model wrote last where this token was the usual one; None if that."""
        return self._instead.get(usual)

    def note(self, usual: int, written: int) -> None:
        """Take note of what the model wrote where a token was the usual one."""
        if written == usual:
            self._instead.pop(usual, None)
        else:
            if len(self._instead) >= _MOST:
                self._instead.clear()
            self._instead[usual] = written
