"""What tokens a model writes a text with, where it does not take the tokenizer's: noted of a task, to draft with.

Held to what is legal, a model takes the best token that is, often a shorter or longer one of the same text; a draft in
the tokenizer's own would then be right and fall all the same. Knows nothing of drafts or texts.
"""

from __future__ import annotations

from collections.abc import Callable

_MOST = 4096
_ENOUGH = 2
"""A lead from which a token is expected: one odd spelling makes no habit."""
_HIGHEST = 4
"""No lead is higher, so that a habit that is given up is soon forgotten."""


class Habits:
    """Of one task on one model. Safe to share between threads: what one notes, another sees or does not."""

    def __init__(self) -> None:
        self._leads: dict[int, dict[int, int]] = {}
        """Of each usual token: other tokens, and how much more often than not they were written of late."""

    def __len__(self) -> int:
        return len(self._leads)

    def __contains__(self, usual: int) -> bool:
        """Whether anything else was ever written where this token was the usual one."""
        return usual in self._leads

    def instead(self, usual: int, fits: Callable[[int], bool]) -> int | None:
        """What the model writes where this token is the usual one, of the tokens that fit; None if that."""
        leads = self._leads.get(usual, {})
        expected = [token for token, lead in leads.items() if lead >= _ENOUGH and fits(token)]
        return max(expected, key=leads.__getitem__, default=None)

    def note(self, usual: int, written: int, fits: Callable[[int], bool]) -> None:
        """Take note of what the model wrote where a token was the usual one, and others fitted too."""
        before = self._leads.get(usual, {})  # others may be reading it
        leads = {token: lead - (token != written and fits(token)) for token, lead in before.items()}
        if written != usual:
            leads[written] = min(_HIGHEST, leads.get(written, 0) + 1)
        leads = {token: lead for token, lead in leads.items() if lead > 0}
        if leads:
            if len(self._leads) >= _MOST:
                self._leads.clear()
            self._leads[usual] = leads
        else:
            self._leads.pop(usual, None)
