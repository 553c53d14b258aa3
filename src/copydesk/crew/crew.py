"""Several workers as one: rows go to whichever has least to do, and their answers come back in order.

Knows nothing of engines but that some host serves one to each worker.
"""

from __future__ import annotations

import os
import selectors
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count, zip_longest
from multiprocessing.connection import Connection
from typing import Any, Protocol

from copydesk import child
from copydesk.child import Child
from copydesk.crew import rows, worker
from copydesk.crew.setup import Setup
from copydesk.desk.source import check_kind
from copydesk.errors import CopydeskError, EngineError, TextError, UsageError
from copydesk.stream import failure, would_block
from copydesk.types import Answer, Failure

_CHUNK = 16
"""Rows that are sent together: enough for sending to cost little, few enough for no long wait for the last chunk."""
_SECONDS = 0.02
"""A chunk is sent with fewer rows when so much time has passed since its first."""
_SECONDS_TO_STOP = 5.0
_CHUNKS_EACH = 6
"""Chunks that each worker holds, where the caller sets no limit: the 64 rows that a desk works on, and a few more."""


class Host(Protocol):
    """Serves an engine to a few clients."""

    connections: list[Connection]
    """The clients' ends, one each."""

    def close(self) -> None:
        """Stop."""


class _Member:
    """A worker as its crew sees it."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.ready = False
        self.waiting: dict[int, Future[bytes]] = {}
        """What it has to do, by the numbers of chunks: answered by packed rows."""
        self._sending = threading.Lock()

    def send(self, message: bytes) -> None:
        """Send it; that it is gone, the post sees as well."""
        with self._sending, suppress(OSError):
            self.child.connection.send_bytes(message)


class Crew:
    """Workers that answer streams of rows. Safe to share between threads; close it in the end."""

    def __init__(self, setup: Setup, hosts: Sequence[Host]) -> None:
        """A worker for each client that the hosts serve. Returns before they are ready. The crew closes the hosts.

        Errors: as `child.start`.
        """
        members: list[_Member] = []
        # In turns, so that workers which are stopped short are not all of one host.
        ends = [end for ends in zip_longest(*(host.connections for host in hosts)) for end in ends if end is not None]
        try:
            for end in ends:
                members.append(_Member(child.start(worker.work, setup, connections=[end], one_thread=True)))
        except BaseException:
            _end(members, hosts)
            raise
        self._members = members
        self._post = _Post(members)
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._close = weakref.finalize(self, _close, self._post, members, hosts, os.getpid())

    @property
    def ready(self) -> bool:
        """Whether all workers have set up their desks. Errors: what has befallen the crew."""
        if self._post.broken is not None:
            raise self._post.broken
        return all(member.ready for member in self._members)

    @property
    def broken(self) -> bool:
        """Whether it was given up or closed."""
        return self._post.broken is not None

    def wait(self) -> None:
        """Until it is ready. Errors: as `ready`."""
        while not self.ready:
            self._post.news.wait()
            self._post.news.clear()

    def answers(
        self, texts: Iterable[str | Failure], asked: worker.Call, in_flight: int | None = None
    ) -> Iterator[Answer[Any] | Failure]:
        """What becomes of each text, in order. A text is a `str`, or the `Failure` that it stays.

        `asked` is what is asked of them (`worker.call`). At most `in_flight` rows are taken and not handed out yet, by
        default as many as keep each worker busy. Errors that are no row's own, and those of `texts`, are raised after
        the rows before them. Closing the generator drops what is in progress.
        """
        source = iter(texts)
        size, most = _CHUNK, _CHUNKS_EACH * len(self._members)
        if in_flight is not None:
            size = max(1, min(_CHUNK, in_flight // (2 * len(self._members))))
            most = in_flight // size
        pending: deque[Future[bytes]] = deque()
        ended: Exception | None = None
        try:
            while True:
                while ended is None and len(pending) < most and not (pending and would_block(source)):
                    content, ended = _take(source, size)
                    if content:
                        pending.append(self._send(asked, content))
                        if pending[0].done():
                            break
                if not pending:
                    break
                for row in rows.unpacked(pending.popleft().result()):
                    if isinstance(row, Exception):
                        raise row
                    yield row
        finally:
            self._drop(pending)
        if ended is not None and not isinstance(ended, StopIteration):
            raise ended

    def close(self) -> None:
        """End all workers; what they were at fails. Calling it again does nothing."""
        self._close()

    def _send(self, asked: worker.Call, texts: list[str | Failure]) -> Future[bytes]:
        future: Future[bytes] = Future()
        number = next(self._numbers)
        message = worker.chunk(number, asked, texts)
        with self._lock:
            member = min(self._members, key=lambda member: len(member.waiting))
            member.waiting[number] = future
        if self._post.broken is not None:
            raise self._post.broken
        try:
            member.send(message)
        except BaseException:  # interrupted, perhaps in the middle of a message
            self._post.give_up(EngineError("Workers were interrupted; load the model again.", code="engine_failed"))
            raise
        return future

    def _drop(self, pending: Sequence[Future[bytes]]) -> None:
        unwanted = set(map(id, pending))
        for member in self._members:
            numbers = [number for number, future in list(member.waiting.items()) if id(future) in unwanted]
            if numbers:
                member.send(worker.drop(numbers))


class _Post:
    """Takes in what workers send, on a thread of its own."""

    def __init__(self, members: Sequence[_Member]) -> None:
        self.broken: CopydeskError | None = None
        """Why no more rows are taken."""
        self.news = threading.Event()
        """Set when a worker got ready, or something broke."""
        self._stop, stopped = child.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(stopped, selectors.EVENT_READ)
        for member in members:
            self._selector.register(member.child.connection, selectors.EVENT_READ, member)
        self._stopped = stopped
        self._members = members
        self._thread = threading.Thread(target=self._run, name="copydesk-crew", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take in nothing more; what is waited for fails.

        A worker that was halted in the middle of a message is taken from for as long as it lives: it is ended then.
        """
        self._stop.close()
        self._thread.join(_SECONDS_TO_STOP)
        if self._thread.is_alive():
            child.end([member.child for member in self._members])
            self._thread.join()
        self._stopped.close()
        self.give_up(UsageError("The model was closed before the answer was there."))

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._selector.close()
                    return
                try:
                    self._take(key.data)
                except (EOFError, OSError):
                    self._selector.unregister(key.fd)  # it may be closed
                    self.give_up(_lost(key.data))

    def _take(self, member: _Member) -> None:
        number, content = worker.done(member.child.connection.recv_bytes())
        if number == worker.READY:
            member.ready = True
            self.news.set()
        elif number == worker.FAILED:
            (error,) = rows.unpacked(content)
            self.give_up(error if isinstance(error, CopydeskError) else _lost(member))
        else:
            future = member.waiting.pop(number, None)
            if future is not None:  # else it was given up
                future.set_result(content)

    def give_up(self, error: CopydeskError) -> None:
        """Take no more rows, and fail those that are waited for: with a worker, rows were lost."""
        self.broken = self.broken or error
        self.news.set()
        for member in self._members:
            while member.waiting:
                with suppress(KeyError, InvalidStateError):
                    member.waiting.popitem()[1].set_exception(self.broken)


def _take(source: Iterator[str | Failure], size: int) -> tuple[list[str | Failure], Exception | None]:
    """The next rows to be sent together, at most `size`, and what the source ended with, if it did."""
    taken: list[str | Failure] = []
    until = time.monotonic() + _SECONDS
    while len(taken) < size and not (taken and (time.monotonic() > until or would_block(source))):
        try:
            item = next(source)
        except Exception as error:
            return taken, error
        try:
            if not isinstance(item, Failure):
                check_kind(item)
                item = str.__str__(item)  # of a class of its own a text may not be fit to be sent
            taken.append(item)
        except TextError as error:
            taken.append(failure(error))
    return taken, None


def _lost(member: _Member) -> EngineError:
    member.child.wait(1.0)
    return EngineError(
        f"A worker process ended (exit code {member.child.exit_code}); load the model again, or with fewer workers.",
        code="engine_failed",
    )


def _close(post: _Post, members: Sequence[_Member], hosts: Sequence[Host], process: int) -> None:
    if os.getpid() != process:
        return  # the workers are another process's
    post.stop()
    _end(members, hosts)


def _end(members: Sequence[_Member], hosts: Sequence[Host]) -> None:
    child.end([member.child for member in members])
    for host in hosts:
        host.close()
