"""When a constrained reply is looked after, and that it ends in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from copydesk.desk.chat.ending import Ending


class Closing:
    """Every reply takes so many tokens to complete."""

    def __init__(self, length: int) -> None:
        self.length = length

    def of(self, state: Any, written: Sequence[int], most: int) -> tuple[int, ...] | None:
        return (7,) * self.length if self.length <= most else None


class State:
    finished = False


def test_it_is_checked_seldom_at_first_and_at_every_token_near_the_end() -> None:
    ending = Ending(Closing(4), 200, 3)
    assert not ending.begun
    ending.begin(10)
    checks = []
    for length in range(10, 200):
        if length >= ending.next_check:
            if not ending.check(State(), [0] * length, length - 10):
                break
            checks.append(length)
    assert len([check for check in checks if check < 150]) < 12
    assert checks[-40:] == list(range(checks[-1] - 39, checks[-1] + 1))
    assert (ending.checked, length) == (196, 197)
    assert ending.way_out(State(), [0] * 196, 1) == (7,) * 4
    assert ending.error().code == "length"


def test_a_way_out_that_gets_longer_is_looked_for_more_often() -> None:
    closing = Closing(1)
    ending = Ending(closing, 200, 1)
    ending.begin(0)
    first = ending.next_check
    closing.length = 70
    assert ending.check(State(), [0] * first, first)
    assert ending.next_check < first + (200 - first) // 2


def test_a_finished_reply_needs_no_way_out() -> None:
    state = State()
    state.finished = True
    ending = Ending(Closing(9), 5, 1)
    assert ending.way_out(state, [0] * 5, 5) == ()
    assert ending.way_out(state, [0] * 6, 6) is None
