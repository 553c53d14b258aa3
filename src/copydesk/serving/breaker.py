"""A circuit breaker: what fails is left alone for a while, then tried with one request at a time, then trusted again.

The while doubles with every time it fails again soon. Knows not what it guards, nor how failing is told.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "open", "half_open"]


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """Times in seconds."""

    open_seconds: float = 5.0
    """How long it stays open the first time."""
    longest_seconds: float = 120.0
    """How long it stays open at most, however often it opens."""
    trials: int = 3
    """Requests that must succeed one after the other before it closes."""
    forget_seconds: float = 300.0
    """After so long without opening, the next time counts as the first."""


class Breaker:
    """Closed lets everything through, open nothing, half open one request at a time. Belongs to one thread."""

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._opened = 0
        """How often in a row, soon after one another."""
        self._until: float | None = None
        """When it may be tried again; None while closed."""
        self._closed_at = 0.0
        self._trying = False
        self._succeeded = 0
        self.why = ""
        """Why it opened last."""

    @property
    def state(self) -> State:
        """As it is now: an open one turns half open by itself."""
        if self._until is None:
            return "closed"
        return "open" if time.monotonic() < self._until else "half_open"

    def admits(self) -> bool:
        """Whether a request may go through now."""
        state = self.state
        return state == "closed" or (state == "half_open" and not self._trying)

    def began(self) -> bool:
        """A request goes through; returns whether it is a trial, which `ended` is told."""
        trial = self._until is not None
        self._trying |= trial
        return trial

    def ended(self, ok: bool | None, *, trial: bool) -> None:
        """It is over: well, badly, or (None) without telling anything. Only trials count here."""
        if not trial:
            return
        self._trying = False
        if self._until is None or ok is None:
            return
        if not ok:
            self.open(self.why)
            return
        self._succeeded += 1
        if self._succeeded >= self._settings.trials:
            self._until = None
            self._closed_at = time.monotonic()

    def try_now(self) -> None:
        """Open or not, let trials through from now on: what failed has been replaced."""
        if self._until is not None:
            self._until = min(self._until, time.monotonic())

    def open(self, why: str) -> float:
        """Let nothing through from now on; returns for how many seconds."""
        settings, now = self._settings, time.monotonic()
        if self._until is None and now - self._closed_at > settings.forget_seconds:
            self._opened = 0
        pause = min(settings.open_seconds * 2.0 ** min(self._opened, 32), settings.longest_seconds)
        self._opened += 1
        self._until = now + pause
        self._succeeded = 0
        self.why = why
        return pause
