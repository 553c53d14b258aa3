"""Whether the server is on its way out, and how many requests it still answers.

Knows neither signals nor routes. Readiness reads it: a server that drains takes no new work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Drain:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._draining = False
        self._running = 0
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def draining(self) -> bool:
        """Whether the server has been told to stop."""
        return self._draining

    @property
    def running(self) -> int:
        """Requests that are being answered."""
        return self._running

    def begin(self) -> None:
        """Stop taking new work."""
        self._draining = True

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request that is being answered, while the context lasts."""
        self._running += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._empty.set()

    async def empty(self, seconds: float) -> bool:
        """Wait until no request is being answered; whether that came about in time."""
        try:
            await asyncio.wait_for(self._empty.wait(), seconds)
        except TimeoutError:
            return False
        return True
