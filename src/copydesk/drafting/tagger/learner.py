"""Learns taggers from verified answers while the process goes on answering: in the background, at growing intervals.

Never blocks who hands in an answer, and never raises for what goes wrong in learning. Knows nothing of drafts.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from copydesk.drafting.shape import Shape, shape_of
from copydesk.drafting.tagger.fitting import fit
from copydesk.drafting.tagger.reservoir import Reservoir
from copydesk.drafting.tagger.store import Store, key
from copydesk.drafting.tagger.tagger import Tagger
from copydesk.types import Task

_FIRST = 12
"""Answers after which a task is learned for the first time."""
_GROWTH = 1.5
"""How many times as many answers there must be before it is learned again."""
_MOST_TASKS = 8
_MOST_WAITING = 4096
_STEP = 3e-4
"""Seconds of work after which other threads get as much time."""
_log = logging.getLogger("copydesk")


@dataclass(slots=True)
class _Course:
    """A task that is being learned."""

    task: Task
    shape: Shape
    base: Tagger | None
    """What was learned before this process."""
    tagger: Tagger | None
    reservoir: Reservoir
    next_at: int = _FIRST


@dataclass(slots=True)
class _Pace:
    """Shares the time between the learner and everybody else."""

    stopped: threading.Event
    since: float = field(default_factory=time.perf_counter)

    def __call__(self) -> None:
        """Errors: `_StoppedError` when no more learning is wanted."""
        if self.stopped.is_set():
            raise _StoppedError
        spent = time.perf_counter() - self.since
        if spent > _STEP:
            time.sleep(spent)
            self.since = time.perf_counter()


class _StoppedError(Exception):
    pass


class Learner:
    """The taggers of one process. Safe to share between threads; close it in the end."""

    def __init__(self, store: Store | None = None, *, seed: int = 0) -> None:
        """Without a `store` nothing is read or written; what is learned ends with the process."""
        self._store = store
        self._seed = seed
        self._courses: OrderedDict[str, _Course] = OrderedDict()
        self._lock = threading.Lock()
        self._inbox: queue.Queue[tuple[Task, str, str] | None] = queue.Queue(_MOST_WAITING)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def tagger(self, task: Task) -> Tagger | None:
        """What is known of a task by now; None if nothing yet."""
        return self._course(task).tagger

    def learn(self, task: Task, text: str, answer: str) -> None:
        """Take note of a verified answer, as it was written. Where too many wait already, it is let go."""
        with self._lock:
            if self._stopped.is_set():
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="copydesk-learner", daemon=True)
                self._thread.start()
        try:
            self._inbox.put_nowait((task, text, answer))
        except queue.Full:
            _log.debug("An answer is not learned from: too many wait.")

    def settle(self) -> None:
        """Wait until all that was handed in is learned."""
        self._inbox.join()

    def close(self) -> None:
        """Stop learning, at once. What was not learned yet is lost."""
        with self._lock:
            self._stopped.set()
            thread = self._thread
        with suppress(queue.Full):  # if it is full, nobody waits for more
            self._inbox.put_nowait(None)
        if thread is not None:
            thread.join()

    def _course(self, task: Task) -> _Course:
        name = key(task)
        with self._lock:
            course = self._courses.get(name)
            if course is None:
                base = self._store.load(task) if self._store else None
                course = _Course(task, shape_of(task), base, base, Reservoir(seed=self._seed))
                self._courses[name] = course
                if len(self._courses) > _MOST_TASKS:
                    self._courses.popitem(last=False)
            self._courses.move_to_end(name)
            return course

    def _work(self) -> None:
        while True:
            handed_in = self._inbox.get()
            try:
                if handed_in is not None and not self._stopped.is_set():
                    self._take(*handed_in)
            except _StoppedError:
                _log.debug("Learning stopped.")
            except Exception:
                _log.debug("Learning failed.", exc_info=True)
            finally:
                self._inbox.task_done()
            if self._stopped.is_set() and self._inbox.empty():
                return

    def _take(self, task: Task, text: str, answer: str) -> None:
        course = self._course(task)
        course.reservoir.add(text, answer)
        if course.reservoir.seen < course.next_at:
            return
        course.next_at = max(course.next_at + 1, int(course.reservoir.seen * _GROWTH))
        pause: Callable[[], None] = _Pace(self._stopped)
        fitted = fit(course.shape, course.reservoir.all(), base=course.base, seed=self._seed, pause=pause)
        if fitted is None:
            return
        course.tagger = fitted
        if self._store is not None:
            self._store.save(task, fitted)
