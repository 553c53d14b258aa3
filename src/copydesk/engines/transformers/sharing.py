"""Networks that several engines of a process use: loaded once, freed with the last of them.

Knows nothing of how they are loaded.
"""

from __future__ import annotations

import threading
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

    def borrow(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """The thing under `key`, made if nobody uses it yet; one at a time is made. Errors: those of `make`."""
        with self._lock:
            thing, users = self._things.get(key) or (make(), 0)
            self._things[key] = thing, users + 1
            return thing

    def give_back(self, key: Hashable) -> None:
        """Use it no longer; the last user's leaving closes it."""
        with self._lock:
            thing, users = self._things.pop(key)
            if users > 1:
                self._things[key] = thing, users - 1
            else:
                thing.close()
