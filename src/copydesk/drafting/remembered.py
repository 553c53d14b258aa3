"""What is made of a task once and asked for with every draft.

Tasks are told apart by identity, for comparing their schemas would take longer than what is saved.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from copydesk.types import Task

Thing = TypeVar("Thing")
_MOST = 64


class Remembered(Generic[Thing]):
    """A function of a task that remembers what it returned for the last few. Safe to share between threads."""

    def __init__(self, make: Callable[[Task], Thing]) -> None:
        self._make = make
        self._kept: OrderedDict[int, tuple[Task, Thing]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, task: Task) -> Thing:
        with self._lock:
            held = self._kept.get(id(task))
        if held is not None and held[0] is task:  # as it is held, no other task can have its id
            return held[1]
        thing = self._make(task)
        with self._lock:
            self._kept[id(task)] = (task, thing)
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return thing
