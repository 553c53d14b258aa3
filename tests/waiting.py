"""Waiting for what another thread or process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Return once it holds. So long only a machine that stands still takes."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
