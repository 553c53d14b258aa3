"""A crew that is only started where it pays: by a stream that has gone on for a while, which goes on meanwhile.

Knows nothing of how a crew is made.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from copydesk.crew.crew import Crew
from copydesk.crew.worker import Call, call
from copydesk.drafting.tagger.store import key
from copydesk.errors import CopydeskError
from copydesk.options import RequestOptions
from copydesk.stream import ROW_ERRORS, failure, would_block
from copydesk.typed import typed_answer
from copydesk.types import Answer, Failure, Task

ROWS = 256
"""Rows of a stream that are answered before worker processes are started for it."""
_MOST_TASKS = 1024
"""Tasks whose rows are counted."""
_log = logging.getLogger("copydesk")


class LazyCrew:
    """Starts a crew once, in the background. Safe to share between threads; close it in the end."""

    def __init__(self, make: Callable[[], Crew], *, rows: int = ROWS) -> None:
        """`make` starts the crew, once a stream has had `rows` rows.

        So many rows of each task that is not built in are answered without it in any case: workers do not learn, but
        they draft with what was learned of those.
        """
        self._make = make
        self._rows = rows
        self._crew: Crew | None = None
        self._ready = False
        self._settled = threading.Event()
        """Set when it is ready, or will not be."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._seen: Counter[str] = Counter()

    @property
    def ready(self) -> bool:
        """Whether there is a crew to hand rows to."""
        return self._ready and self._crew is not None and not self._crew.broken

    def start(self) -> None:
        """Start the crew if it is not started yet. Returns at once."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._started, name="copydesk-crew-start", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Start it and wait until it is ready, or will not be; returns whether it is."""
        self.start()
        self._settled.wait(seconds)
        return self.ready

    def answers(
        self,
        texts: Iterable[str | Failure],
        task: Task,
        options: RequestOptions,
        in_flight: int | None,
        *,
        alone: Callable[[Iterable[str | Failure]], Iterator[Answer[Any] | Failure]],
    ) -> Iterator[Answer[Any] | Failure]:
        """What becomes of each text, in order: by way of `alone` until the crew takes over.

        The answers' values are of the schema's class, if it came from one. Errors: as `Crew.answers`.
        """
        asked = _sendable(task, options)
        if asked is None:
            yield from alone(texts)
            return
        name = key(task)
        first = _First(self, iter(texts), 0 if task.builtin and self.ready else self._rows - self._seen[name])
        yield from alone(first)
        if len(self._seen) >= _MOST_TASKS:
            self._seen.clear()
        self._seen[name] += first.count
        if first.is_over or self._crew is None:
            return
        for row in self._crew.answers(first.texts, asked, in_flight):
            yield row if isinstance(row, Failure) else _typed(row, task)

    def close(self) -> None:
        """End the crew, if there is one. Calling it again does nothing."""
        with self._lock:
            self._closed = True
            self._settled.set()
            crew = self._crew
        if crew is not None:
            crew.close()
        if self._thread is not None:
            self._thread.join()

    def _started(self) -> None:
        try:
            crew = self._make()
            with self._lock:
                self._crew = crew
                closed = self._closed
            if closed:
                crew.close()
            crew.wait()
        except CopydeskError as error:
            if not self._closed:
                _log.warning("Rows are answered without worker processes: %s", error)
        else:
            self._ready = True
        finally:
            self._settled.set()


def _sendable(task: Task, options: RequestOptions) -> Call | None:
    """What workers are asked: without the caller's own class, which need not exist there. None if it cannot be sent."""
    if options.get("prediction") is not None:
        return None
    plain = task if task.schema is None else replace(task, schema=replace(task.schema, model=None))
    try:
        return call(plain, options)
    except Exception:  # whatever is within a caller's schema
        _log.debug("Rows are answered without worker processes.", exc_info=True)
        return None


def _typed(answer: Answer[Any], task: Task) -> Answer[Any] | Failure:
    try:
        return typed_answer(answer, task)
    except ROW_ERRORS as error:
        return failure(error)


class _First(Iterator[str | Failure]):
    """The texts before the crew takes over; it is started on the way."""

    def __init__(self, crew: LazyCrew, texts: Iterator[str | Failure], least: int) -> None:
        self.texts = texts
        self.count = 0
        self.is_over = False
        """Whether the texts themselves have come to an end."""
        self._crew = crew
        self._least = least

    def would_block(self) -> bool:
        """As the texts have it."""
        return would_block(self.texts)

    def __next__(self) -> str | Failure:
        if self.count >= self._least and self._crew.ready:
            raise StopIteration
        try:
            text = next(self.texts)
        except BaseException:
            self.is_over = True
            raise
        self.count += 1
        if self.count > self._least:
            self._crew.start()
        return text
