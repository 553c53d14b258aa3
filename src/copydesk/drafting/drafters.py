"""All drafters of a process behind one call: the one whose drafts have stood longest goes first.

Knows nothing of models or tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from copydesk.drafting import lookup, prediction
from copydesk.drafting.controller import Controller
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.drafting.tagger.store import key
from copydesk.types import Draft, Task

Drafter = Callable[[Task, str, str], Draft | None]
"""Drafts the whole answer to a text, beginning with what stands of it; None if it has nothing to add."""

_COMPARED = 64
_COMPARED_EACH = 8
"""Drafters are compared on so many answers at first, later on one in so many."""
_MOST_TASKS = 1024


class Drafters:
    """Rules, tagger, lookup and the caller's prediction. Safe to share between threads; close it in the end."""

    def __init__(
        self, controller: Controller, *, rules: Drafter | None = None, tagger: TaggerDrafter | None = None
    ) -> None:
        """Without a `tagger` nothing is learned."""
        self._controller = controller
        self._tagger = tagger
        self._drafters: dict[str, Drafter] = {}
        if rules is not None:
            self._drafters["rules"] = rules
        if tagger is not None:
            self._drafters["tagger"] = tagger.draft
        self._drafters["lookup"] = lookup.draft
        self._verified: Counter[str] = Counter()

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        """The best draft there is, beginning with `so_far`; None if nobody has anything to add.

        `expected` is the caller's own prediction; it goes before all others.
        """
        if expected is not None:
            draft = prediction.draft(task, text, so_far, expected)
            if draft is not None:
                return draft
        for name in self._controller.ranked(key(task), list(self._drafters)):
            draft = self._drafters[name](task, text, so_far)
            if draft is not None:
                return draft
        return None

    def verified(self, task: Task, text: str, answer: str) -> None:
        """Learn from an answer that a model has verified, as it was written, and compare the drafters on it."""
        name = key(task)
        count = self._verified[name]
        if len(self._verified) >= _MOST_TASKS:
            self._verified.clear()
        self._verified[name] = count + 1
        if count < _COMPARED or count % _COMPARED_EACH == 0:
            for drafter, call in self._drafters.items():
                draft = call(task, text, "")
                if draft is not None:
                    stood = _common(draft.text, answer)
                    self._controller.compare(name, drafter, stood, stood < len(answer))
        if self._tagger is not None:
            self._tagger.learn(task, text, answer)

    def close(self) -> None:
        """Stop learning."""
        if self._tagger is not None:
            self._tagger.close()


def _common(left: str, right: str) -> int:
    """Length of the common beginning."""
    shorter = min(len(left), len(right))
    return next((place for place in range(shorter) if left[place] != right[place]), shorter)
