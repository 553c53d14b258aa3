"""Drafters kept from breaking or delaying answers."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from copydesk.desk.drafting import Drafting
from copydesk.drafting.controller import Controller
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Draft, Task

from .fake_drafters import FakeDrafters, drafting, going_on


def test_a_drafter_that_raises_drafts_nothing_and_is_counted() -> None:
    def failing(so_far: str) -> Draft | None:
        raise ValueError("of no use")

    kept = drafting(failing)
    assert [kept.draft(ADDRESS, "text", "") for _ in range(3)] == [None] * 3
    assert kept.failures == 3


@pytest.mark.parametrize("text", ["{", '{"city', "\ud800", None, 7])
def test_what_does_not_go_on_from_what_stands_or_is_no_text_is_no_draft(text: Any) -> None:
    kept = drafting(lambda so_far: Draft(text, "rules"))
    assert kept.draft(ADDRESS, "text", '{"name') is None
    assert kept.failures == 1


def test_drafters_that_take_long_are_left_alone_until_answers_have_taken_longer() -> None:
    now = 0.0
    drafters = FakeDrafters(going_on("{}"))

    class Slow(FakeDrafters):
        def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
            nonlocal now
            now += 1.0
            return drafters.draft(task, text, so_far, expected)

    kept = Drafting(Slow(going_on("{}")), Controller(), clock=lambda: now)
    for _ in range(20):
        kept.draft(ADDRESS, "text", "")
    assert len(drafters.asked) == 1
    for _ in range(40):
        kept.answered(1.0)
        kept.draft(ADDRESS, "text", "")
    assert 5 < len(drafters.asked) < 12


def test_learning_is_done_elsewhere_and_its_errors_are_put_up_with() -> None:
    threads: list[str] = []

    class Failing(FakeDrafters):
        def verified(self, task: Task, text: str, answer: str) -> None:
            threads.append(threading.current_thread().name)
            raise ValueError("of no use")

    kept = Drafting(Failing(going_on("{}")), Controller())
    for _ in range(3):
        kept.verified(ADDRESS, "text", "{}")
    kept.settle()
    kept.close()
    assert (len(threads), kept.failures) == (3, 3)
    assert threading.current_thread().name not in threads


def test_after_its_end_nothing_is_learned() -> None:
    drafters = FakeDrafters(going_on("{}"))
    kept = Drafting(drafters, Controller())
    kept.verified(ADDRESS, "text", "{}")
    kept.settle()
    kept.close()
    kept.verified(ADDRESS, "text", "{}")
    kept.close()
    assert drafters.closed
    assert drafters.learned == ["{}"]
