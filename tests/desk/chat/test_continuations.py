"""Drafts of replies: where they come from, and when none is made."""

from __future__ import annotations

from copydesk.desk.chat.continuations import Continuations
from copydesk.drafting.controller import Controller, Costs

from .chatting import CHEAP


def drafts(prompt: list[int], prediction: list[int] | None = None, costs: Costs | None = CHEAP) -> Continuations:
    return Continuations(Controller(costs), "chat", prompt, prediction or [])


def test_a_reply_goes_on_as_the_same_tokens_did_before() -> None:
    made = drafts([1, 2, 3, 4, 5, 6, 9])
    assert made.propose(1) == []
    made.took([1, 2, 3])
    assert made.propose(1)[:3] == [4, 5, 6]
    made.took([4])
    assert made.propose(1)[:2] == [5, 6]
    made.took([8])  # another way
    assert made.propose(1) == []
    made.took([3, 4, 5])
    assert made.propose(1)[:1] == [6]


def test_of_several_places_the_one_that_agrees_longest_is_taken() -> None:
    made = drafts([7, 1, 2, 3, 70, 8, 1, 2, 3, 80, 0])
    made.took([7, 1, 2, 3])
    assert made.propose(1)[0] == 70
    made = drafts([7, 1, 2, 3, 70, 8, 1, 2, 3, 80, 0])
    made.took([1, 2, 3])
    assert made.propose(1)[0] == 80  # equals: the latest


def test_what_is_forced_is_followed() -> None:
    made = drafts([1, 2, 3, 4, 5, 6, 0])
    made.took([1, 2, 3])
    assert made.propose(1, [4, 5])[:1] == [6]
    made.took([4, 5])
    assert made.propose(1)[:1] == [6]
    assert made.propose(1, [9]) == []


def test_the_callers_guess_begins_with_the_content() -> None:
    made = drafts([1, 2, 3], [10, 11, 12, 13, 14])
    made.note_content(False)
    assert made.propose(1) == []
    made.took([99])
    made.note_content(True)
    assert made.propose(1)[:2] == [10, 11]
    made.took([10, 50, 11, 12, 13])
    made.note_content(True)
    assert made.propose(1) == [14]
    made.judge(1, 1, 1)
    assert made.source == "prediction"


def test_nothing_is_drafted_before_costs_are_known_or_where_it_does_not_pay() -> None:
    made = drafts([1, 2, 3, 4, 5, 6], costs=None)
    made.took([1, 2, 3])
    assert made.propose(1) == []
    dear = drafts([1, 2, 3, 4, 5, 6] * 40, costs=Costs.measured({1: 1.0, 64: 64.0}))
    read = 0
    for _ in range(400):
        dear.took([1, 2, 3])
        proposed = dear.propose(1)
        read += len(proposed)
        dear.judge(len(proposed), 0, len(proposed))
        dear.took([77])
    assert read < 150
