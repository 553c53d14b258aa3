"""The drafts of one answer: the first, and another whenever the answer has gone its own way.

Decides with the controller how much of them is read, and tells it how they fared. Knows nothing of grammars or models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copydesk.desk.drafting import Drafting
from copydesk.desk.habits import Habits
from copydesk.desk.proposal import Proposal
from copydesk.drafting.controller import Pass
from copydesk.drafting.tagger.store import key
from copydesk.types import Draft, Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer


@dataclass(slots=True)
class _Plan:
    """What of a draft was to be read in a pass."""

    source: str
    ride: Pass
    length: int


class Drafts:
    """The drafts of one answer."""

    def __init__(
        self,
        drafting: Drafting,
        task: Task,
        text: str,
        tokenizer: Tokenizer,
        *,
        expected: Any = None,
        habits: Habits | None = None,
    ) -> None:
        """Asks for the first draft at once. `expected` is the caller's own prediction, `habits` the model's in the
        task."""
        self.source: str | None = None
        """Who proposed the first draft of which anything was read."""
        self.others: Callable[[], int] = int
        """How many other answers are in progress."""
        self._drafting = drafting
        self._task = task
        self._key = key(task)
        self._text = text
        self._tokenizer = tokenizer
        self._expected = expected
        self._habits = habits
        self._first: Draft | None = drafting.draft(task, text, "", expected)
        self._corrected = False
        self._vain = 0
        """How many times in a row a draft was asked for in vain."""
        self._rest = 0
        """How many passes go by before one is asked for again."""
        self._plan: _Plan | None = None
        self._read = self._before = 0
        """Tokens that are read anyway in this pass, and all that were in the one before."""

    def propose(self, written: bytes) -> Proposal | None:
        """A draft that goes on from the answer's text so far; None if there is none, or it ends within a character."""
        if self._rest:
            self._rest -= 1
            return None
        try:
            so_far = written.decode()
        except UnicodeDecodeError:
            return None
        draft, self._first = self._first, None
        if draft is None or not draft.text.startswith(so_far):
            draft = self._drafting.draft(self._task, self._text, so_far, self._expected)
        if draft is None or len(draft.text) == len(so_far):
            self._in_vain()
            return None
        place = len(written)
        return Proposal(draft.text, self._tokenizer, source=draft.source, place=place, habits=self._habits)

    def length(self, proposal: Proposal | None, read: int) -> int:
        """How many tokens of a draft to read at most, in a pass that reads so many tokens anyway."""
        self._plan = None
        self._read = read
        if proposal is None:
            return 0
        ride = Pass(read, self.others(), self._corrected, self._before)
        controller = self._drafting.controller
        left = proposal.left(controller.reach(self._key, proposal.source, ride))
        length = controller.length(self._key, proposal.source, left, ride)
        self._plan = _Plan(proposal.source, ride, length)
        return length

    def judge(self, drafted: int, stood: int, read: int) -> None:
        """Take note of a pass: how many drafted tokens it had and how many stood, and how many were read for them."""
        self._before = self._read + read
        plan = self._plan
        if plan is None:
            return
        self._drafting.controller.judge(self._key, plan.source, plan.ride, drafted, stood, paid=plan.length, read=read)
        if drafted:
            self.source = self.source or plan.source
        if stood:
            self._vain = 0
        else:
            self._in_vain()
        self._corrected |= stood < drafted

    def _in_vain(self) -> None:
        """Ask less and less often where it is of no use: drafting takes time as well."""
        self._rest = self._vain
        self._vain += 1
