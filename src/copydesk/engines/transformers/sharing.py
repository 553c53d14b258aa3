"""Networks that several engines of a process use: loaded once, freed with the last of them.

Knows nothing of how they are loaded.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What is shared."""

    def close(self) -> None:
        """Free it."""


Thing = TypeVar("Thing", bound=Closable)


class Shared(Generic[Thing]):
    """Things by key, and how many users each has. Safe to use from several threads."""

    def __init__(self) -> None:
        self._things: dict[Hashable, tuple[Thing, int]] = {}
        self._lock = threading.Lock()
        self._returned: deque[Hashable] = deque()

    def borrow(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """The thing under `key`, made if nobody uses it yet; one at a time is made. Errors: those of `make`."""
        try:
            with self._lock:
                thing, users = self._things.get(key) or (make(), 0)
                self._things[key] = thing, users + 1
                return thing
        finally:
            self._settle()

    def give_back(self, key: Hashable) -> None:
        """Use it no longer; the last user's leaving closes it. May be called by a garbage collection."""
        self._returned.append(key)
        self._settle()

    def _settle(self) -> None:
        """Take back what was returned. Whoever holds the lock does it afterwards: that may be this very thread."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                while self._returned:
                    self._take_back(self._returned.popleft())
            finally:
                self._lock.release()

    def _take_back(self, key: Hashable) -> None:
        thing, users = self._things.pop(key)
        if users > 1:
            self._things[key] = thing, users - 1
        else:
            thing.close()
