"""Drafters that say what a test has them say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copydesk.desk.drafting import Drafting
from copydesk.drafting.controller import Controller, Costs
from copydesk.types import Draft, Task

Propose = Callable[[str], Draft | None]
"""From what stands of an answer to the whole as it is drafted."""
CHEAP = Costs.measured({1: 1.0, 64: 1.5})


class FakeDrafters:
    """Satisfies `AnyDrafters`."""

    def __init__(self, propose: Propose) -> None:
        self.asked: list[str] = []
        """What stood each time a draft was asked for."""
        self.expected: list[Any] = []
        self.learned: list[str] = []
        self.closed = False
        self._propose = propose

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        self.asked.append(so_far)
        self.expected.append(expected)
        return self._propose(so_far)

    def verified(self, task: Task, text: str, answer: str) -> None:
        self.learned.append(answer)

    def close(self) -> None:
        self.closed = True


def drafting(propose: Propose, costs: Costs = CHEAP) -> Drafting:
    return Drafting(FakeDrafters(propose), Controller(costs))


def going_on(answer: str, source: str = "rules") -> Propose:
    """Drafts `answer`; what was corrected goes on with what follows its last characters there."""

    def propose(so_far: str) -> Draft | None:
        if answer.startswith(so_far):
            return Draft(answer, source)
        for length in range(min(len(so_far), 12), 2, -1):
            place = answer.find(so_far[-length:])
            if place >= 0:
                return Draft(so_far + answer[place + length :], source)
        return None

    return propose
