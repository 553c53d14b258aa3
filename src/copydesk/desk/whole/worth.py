"""Whether drafts pay at an engine: what verifying one costs against what writing an answer costs, and how many stand.

Medians, since an engine that is shared is slow now and then. Knows nothing of either but seconds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sized
from statistics import fmean, median

_REMEMBERED = 16
"""Measurements of each kind that are remembered."""
_ENOUGH = 8
"""Fewer say nothing, and drafts are tried."""
_EVERY = 8
"""Where drafts do not pay, one answer in so many is drafted all the same, for things change."""


class Worth:
    """What is remembered of one kind of answers. Safe to share between threads."""

    def __init__(self) -> None:
        self._verifying: deque[float] = deque(maxlen=_REMEMBERED)
        self._stood: deque[bool] = deque(maxlen=_REMEMBERED)
        self._writing: deque[float] = deque(maxlen=_REMEMBERED)
        self._asked = 0
        self._lock = threading.Lock()

    def pays(self) -> bool:
        """Whether the next answer should be drafted."""
        with self._lock:
            self._asked += 1
            if self._asked % _EVERY == 0 or not all(map(_is_enough, (self._verifying, self._writing))):
                return True
            return median(self._verifying) < fmean(self._stood) * median(self._writing)

    def verified(self, seconds: float, stood: bool) -> None:
        """A draft was verified, in all its passes, and stood in the end or came to nothing."""
        with self._lock:
            self._verifying.append(seconds)
            self._stood.append(stood)

    def written(self, seconds: float) -> None:
        """An answer was written without one."""
        with self._lock:
            self._writing.append(seconds)


def _is_enough(measured: Sized) -> bool:
    return len(measured) >= _ENOUGH
