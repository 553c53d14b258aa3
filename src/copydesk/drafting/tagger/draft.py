"""The drafter that learns: from each verified answer of its process, for any task whose values are mostly copied.

Knows nothing of models.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from copydesk.drafting.layout import write
from copydesk.drafting.shape import shape_of
from copydesk.drafting.tagger.learner import Learner
from copydesk.drafting.tagger.store import Store, key
from copydesk.drafting.tagger.tagged import Tagged
from copydesk.drafting.tagger.tagger import Tagger
from copydesk.drafting.tagger.targets import targets_of
from copydesk.types import Draft, Task

_MOST_TEXTS = 128
"""Texts whose expected answers are kept, while they are drafted again and again."""


class TaggerDrafter:
    """Drafts by what was learned. Safe to share between threads; close it in the end."""

    def __init__(self, home: Path | None = None, *, seed: int = 0) -> None:
        """What is learned is kept under `home`, and read from there; without it neither."""
        self._learner = Learner(None if home is None else Store(home), seed=seed)
        self._lock = threading.Lock()
        self._tagged: OrderedDict[tuple[str, str], tuple[Tagger, Tagged]] = OrderedDict()

    def draft(self, task: Task, text: str, so_far: str) -> Draft | None:
        """The whole answer as it is expected, beginning with `so_far`; None before enough is learned."""
        tagger = self._learner.tagger(task)
        if tagger is None:
            return None
        guesses = self._expected(task, text, tagger).guesses()
        written = None if guesses is None else write(shape_of(task), so_far, guesses)
        return None if written is None else Draft(written.text, "tagger", written.spans)

    def learn(self, task: Task, text: str, answer: str) -> None:
        """Learn from a verified answer, as it was written: JSON in the layout of answers, or a label."""
        self._learner.learn(task, text, answer)

    def settle(self) -> None:
        """Wait until all that was handed in is learned."""
        self._learner.settle()

    def close(self) -> None:
        """Stop learning."""
        self._learner.close()

    def _expected(self, task: Task, text: str, tagger: Tagger) -> Tagged:
        """What the tagger expects of a text, made once for all drafts of one answer."""
        name = (key(task), text)
        with self._lock:
            kept = self._tagged.get(name)
            if kept is None or kept[0] is not tagger:
                kept = (tagger, Tagged(tagger, targets_of(shape_of(task)), text))
                self._tagged[name] = kept
                if len(self._tagged) > _MOST_TEXTS:
                    self._tagged.popitem(last=False)
            return kept[1]


def forget(home: Path) -> int:
    """Delete all that was learned and kept under `home`; returns how many files that were. Errors: `OSError`."""
    return Store(home).forget()
