"""What is made of a task once."""

from __future__ import annotations

from copydesk.drafting.remembered import Remembered
from copydesk.types import Task


def test_the_same_task_is_made_once_and_an_equal_one_again() -> None:
    made: list[Task] = []

    def make(task: Task) -> int:
        made.append(task)
        return len(made)

    remembered = Remembered(make)
    task = Task("a", "b")
    assert (remembered(task), remembered(task), remembered(Task("a", "b"))) == (1, 1, 2)


def test_only_the_last_few_are_kept() -> None:
    made: list[Task] = []
    remembered = Remembered(made.append)
    first = Task("first", "")
    remembered(first)
    others = [Task(str(number), "") for number in range(200)]
    for other in others:
        remembered(other)
    remembered(others[-1])
    assert len(made) == 201
    remembered(first)
    assert len(made) == 202
