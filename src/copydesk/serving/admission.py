"""The queue before a model: so many requests and tokens in progress, so many waiting, and nobody waits in vain.

First come, first served. What does not fit the queue is refused at once, with a guess at when to come back. Knows no
keys and no HTTP.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import Protocol

_REMEMBERED = 64
"""Requests that left last: how fast they did is what the guess at a wait goes by."""
_SHORTEST, _LONGEST = 1.0, 60.0
"""Seconds that a refused request is told to wait at least, and at most."""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How much a model takes at once. Tokens are those estimated of a request's prompts and answers."""

    running: int = 64
    running_tokens: int = 262_144
    """A single request with more is let in when nothing else runs."""
    waiting: int = 256
    waiting_tokens: int = 1_048_576
    wait_seconds: float = 30.0
    """Longest wait for a place."""


class QueueTally(Protocol):
    """Is told what becomes of a queue."""

    def changed(self, running: int, waiting: int) -> None:
        """So many requests are in progress, and so many wait."""

    def waited(self, seconds: float) -> None:
        """A request came in after so long."""


class NoTally:
    """Satisfies `QueueTally` for who does not count."""

    def changed(self, running: int, waiting: int) -> None:
        """Nothing."""

    def waited(self, seconds: float) -> None:
        """Nothing."""


class SaturatedError(Exception):
    """There is no place, or none came free in time. `retry_after` in seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(slots=True, eq=False)
class Place:
    """A request in the queue, and then in progress. Whoever entered leaves, once."""

    tokens: int
    granted: asyncio.Future[None]
    """Done once it is in progress."""
    came: float
    """`time.monotonic()`"""


class Queue:
    """Belongs to one event loop."""

    def __init__(self, settings: QueueSettings, tally: QueueTally | None = None) -> None:
        self._settings = settings
        self._tally = tally or NoTally()
        self._waiting: deque[Place] = deque()
        self._left: deque[float] = deque(maxlen=_REMEMBERED)
        self.running = 0
        self.running_tokens = 0
        self.waiting_tokens = 0

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._waiting)

    async def enter(self, tokens: int) -> Place:
        """A place, waited for if need be. Cancelling gives it up. Errors: `SaturatedError`."""
        place = Place(tokens, asyncio.get_running_loop().create_future(), time.monotonic())
        if not self._waiting and self._fits(tokens):
            self._start(place)
            self._tell()
            return place
        settings = self._settings
        too_many = self.waiting_tokens + tokens > settings.waiting_tokens
        if self.waiting >= settings.waiting or (self._waiting and too_many):
            raise SaturatedError("The server is busy and its queue is full; try again later.", self.retry_after())
        self._waiting.append(place)
        self.waiting_tokens += tokens
        self._tell()
        try:
            await asyncio.wait((place.granted,), timeout=settings.wait_seconds)
        except asyncio.CancelledError:
            self._give_up(place)
            raise
        if not place.granted.done():
            self._give_up(place)
            raise SaturatedError(
                f"No place came free within {settings.wait_seconds:g} s; try again later.", self.retry_after()
            )
        return place

    def leave(self, place: Place) -> None:
        """Free the place of a request that is over, however it ended."""
        self.running -= 1
        self.running_tokens -= place.tokens
        self._left.append(time.monotonic())
        self._grant()
        self._tell()

    def retry_after(self) -> float:
        """When a place may be free, in seconds: as long as all that wait and one more take at the pace of late."""
        if len(self._left) < 2:
            return _SHORTEST
        # Until now, not until the last one left: a queue that has come to a stop gets slower by the second.
        pace = len(self._left) / max(time.monotonic() - self._left[0], 1e-3)
        return min(max(math.ceil((self.waiting + 1) / pace), _SHORTEST), _LONGEST)

    def _fits(self, tokens: int) -> bool:
        settings = self._settings
        if self.running >= settings.running:
            return False
        return not self.running or self.running_tokens + tokens <= settings.running_tokens

    def _start(self, place: Place) -> None:
        self.running += 1
        self.running_tokens += place.tokens
        place.granted.set_result(None)
        self._tally.waited(time.monotonic() - place.came)

    def _grant(self) -> None:
        """Let in those that wait, as long as the first of them fits."""
        while self._waiting and self._fits(self._waiting[0].tokens):
            place = self._waiting.popleft()
            self.waiting_tokens -= place.tokens
            self._start(place)

    def _give_up(self, place: Place) -> None:
        if place.granted.done():  # it came free at the same moment
            self.leave(place)
        else:
            self._waiting.remove(place)
            self.waiting_tokens -= place.tokens
            self._grant()  # those behind it may be smaller
            self._tell()

    def _tell(self) -> None:
        self._tally.changed(self.running, self.waiting)
