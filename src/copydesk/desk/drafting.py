"""The drafters as the desk uses them: whatever a drafter does, answers go on, and none waits for it noticeably.

Keeps the time that drafters take within bounds, puts up with their errors, and hands them verified answers to learn
from in a thread of its own. Knows nothing of tokens, grammars or models.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from copydesk.drafting.controller import Controller
from copydesk.types import Draft, Task

_SECONDS_AT_FIRST = 0.5
"""What drafters may take before they have saved any time; loading their tables takes part of it."""
_SHARE = 0.25
"""What they may take of the time that answers took; usually it is a twentieth."""
_MOST_SAVED = 2.0
"""Seconds that they may save up."""
_MOST_WAITING = 1024
"""Verified answers that wait to be learned from; more are let go."""

_log = logging.getLogger("copydesk")


class AnyDrafters(Protocol):
    """What is asked of all drafters together; `copydesk.drafting.drafters.Drafters` are such."""

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        """An answer's text, beginning with `so_far`."""

    def verified(self, task: Task, text: str, answer: str) -> None:
        """Learn from a verified answer."""

    def close(self) -> None:
        """Stop learning."""


class Drafting:
    """Drafters and what is known of their worth, for one desk. Safe to share between threads; close it in the end."""

    def __init__(
        self,
        drafters: AnyDrafters,
        controller: Controller,
        *,
        learn: bool = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Without `learn`, verified answers are let go."""
        self.controller = controller
        self.failures = 0
        """Drafts that came to nothing because a drafter raised, or offered what is no answer's text."""
        self._drafters = drafters
        self._learns = learn
        self._clock = clock
        self._seconds = _SECONDS_AT_FIRST
        """What drafters may take for now."""
        self._lock = threading.Lock()
        self._lessons: queue.Queue[tuple[Task, str, str] | None] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._closed = False

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        """A draft that begins with `so_far`; None if there is none, or if drafters have taken too long lately."""
        if self._seconds <= 0.0:
            return None
        started = self._clock()
        draft = None
        try:
            draft = self._drafters.draft(task, text, so_far, expected)
            if draft is not None and not _is_answer(draft, so_far):
                raise ValueError(f"a draft by {draft.source} does not go on from what stands")
        except Exception:
            draft = None
            self._failed("Drafting failed.")
        with self._lock:
            self._seconds -= self._clock() - started
        return draft

    def answered(self, seconds: float) -> None:
        """Take note of how long an answer took: drafters may take a share of that."""
        with self._lock:
            self._seconds = min(self._seconds + _SHARE * seconds, _MOST_SAVED)

    def verified(self, task: Task, text: str, answer: str) -> None:
        """Have the drafters learn from an answer, as it was written, when there is time. Never blocks."""
        if not self._learns:
            return
        with self._lock:
            if self._closed:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._learn, name="copydesk-lessons", daemon=True)
                self._thread.start()
        with suppress(queue.Full):
            self._lessons.put_nowait((task, text, answer))

    def settle(self) -> None:
        """Wait until the drafters have been handed all verified answers."""
        self._lessons.join()

    def close(self) -> None:
        """Stop learning; what waits is let go. Calling it again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with suppress(queue.Full):  # if it is full, the thread need not be woken
            self._lessons.put_nowait(None)
        if self._thread is not None:
            self._thread.join()
        self._drafters.close()

    def _learn(self) -> None:
        while True:
            lesson = self._lessons.get()
            try:
                if lesson is not None and not self._closed:
                    self._drafters.verified(*lesson)
            except Exception:
                self._failed("Learning from an answer failed.")
            finally:
                self._lessons.task_done()
            if self._closed:
                return

    def _failed(self, what: str) -> None:
        with self._lock:
            self.failures += 1
        _log.debug(what, exc_info=True)


def _is_answer(draft: Draft, so_far: str) -> bool:
    """Whether a draft is text that goes on from what stands."""
    draft.text.encode()  # raises for what cannot be written
    return draft.text.startswith(so_far)
