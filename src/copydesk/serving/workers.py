"""Several processes that answer on one socket: started together, started again when they die or hang, stopped together.

Knows nothing of what they answer. Not for Windows, where processes do not share a socket like this.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait

from copydesk.errors import CopydeskError

_BEAT_SECONDS = 1.0
_POLL_SECONDS = 0.5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a worker that died is started again; they double with each that dies soon."""
_SETTLED_SECONDS = 60.0
_TOLD_BY = (signal.SIGTERM, signal.SIGINT)
_log = logging.getLogger("copydesk.serving")


class Line:
    """A worker's line to its supervisor."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._beating: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Say that all is loaded, wait until it is time to listen, and give signs of life from then on."""
        self._connection.send("ready")
        await asyncio.to_thread(self._connection.recv)
        self._beating = asyncio.create_task(self._beat())

    def failed(self, error: CopydeskError) -> None:
        """Say why it will never be ready."""
        with suppress(OSError):
            self._connection.send((str(error), error.code))

    async def _beat(self) -> None:
        """In the event loop: when that hangs, so do the signs of life. Left alone, the worker stops."""
        while True:
            try:
                self._connection.send("beat")
            except OSError:
                os.kill(os.getpid(), signal.SIGTERM)
                return
            await asyncio.sleep(_BEAT_SECONDS)


Work = Callable[[Line], object]
"""What a worker does until it gets SIGTERM. It travels to another process: a function of a module, or a `partial`."""


def run_workers(
    count: int, work: Work, *, all_ready: Callable[[], None], stop_seconds: float, hung_seconds: float = 60.0
) -> int:
    """Keep `count` workers going until SIGTERM or SIGINT, and return which. For the process's main thread.

    `all_ready` is called when all have loaded and none listens yet. They get `stop_seconds` to stop; one that gives no
    sign of life for `hung_seconds` is killed. Errors: `CopydeskError` of a worker that cannot even start.
    """
    slots: list[_Slot] = []
    with _signals() as told:
        try:
            for _ in range(count):
                slots.append(_Slot(work))
            while not told and not all(slot.ready for slot in slots):
                _listen(slots)
                for slot in slots:
                    slot.check_started()
            if not told:
                all_ready()
            for slot in slots:
                slot.go()
            while not told:
                _listen(slots)
                for slot in slots:
                    slot.look_after(hung_seconds)
        finally:
            _stop(slots, stop_seconds)
    return told[0]


class _Slot:
    """A place for one worker at a time."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._pause = _FIRST_PAUSE
        self._listens = False
        self.start()

    def start(self) -> None:
        """Start a worker."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_main, args=(self._work, theirs), name="copydesk-worker")
        self.process.start()
        theirs.close()
        self._started = self._heard = time.monotonic()
        self._due = 0.0
        """When the next is to be started; 0 while there is one."""
        self._error: CopydeskError | None = None
        self.ready = False

    def hear(self) -> None:
        """Take what the worker says, if it says anything."""
        try:
            while self.connection.poll():
                said = self.connection.recv()
                self._heard = time.monotonic()
                if isinstance(said, tuple):
                    self._error = CopydeskError(said[0], code=said[1])
                elif said == "ready":
                    self.ready = True
                    if self._listens:
                        self.go()
        except (EOFError, OSError):
            return

    def go(self) -> None:
        """Let it listen, and each that comes after it."""
        self._listens = True
        if self.ready:
            with suppress(OSError):
                self.connection.send("go")

    def check_started(self) -> None:
        """Errors: `CopydeskError` if it ended before it was ready."""
        if not self.process.is_alive():
            self.hear()
            raise self._error or CopydeskError(f"A worker ended while it started (code {self.process.exitcode}).")

    def look_after(self, hung_seconds: float) -> None:
        """Kill the worker if it hangs, and start another some time after it has ended."""
        now = time.monotonic()
        if self._due:
            if now >= self._due:
                self.start()
        elif not self.process.is_alive():
            self.hear()
            self.connection.close()
            lived = now - self._started
            self._pause = _FIRST_PAUSE if lived > _SETTLED_SECONDS else self._pause
            self._due = now + self._pause
            why = f": {self._error}" if self._error else ""
            _log.error(
                "Worker %s ended after %.0f s (code %s)%s; another is started in %.1f s.",
                *(self.process.pid, lived, self.process.exitcode, why, self._pause),
            )
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        elif self.ready and now - self._heard > hung_seconds:
            _log.error("Worker %s gives no sign of life and is killed.", self.process.pid)
            self.process.kill()
            self.process.join()


def _listen(slots: list[_Slot]) -> None:
    """Hear whoever speaks, for a moment at most."""
    lines = {slot.connection: slot for slot in slots if not slot.connection.closed}
    if not lines:
        time.sleep(_POLL_SECONDS)
    for line in wait(list(lines), timeout=_POLL_SECONDS):
        lines[line].hear()  # type: ignore[index]
    if not all(slot.process.is_alive() for slot in slots):
        time.sleep(_POLL_SECONDS / 10)  # an ended worker's line speaks for ever


def _stop(slots: list[_Slot], seconds: float) -> None:
    for slot in slots:
        slot.process.terminate()
    until = time.monotonic() + seconds
    for slot in slots:
        slot.process.join(max(0.0, until - time.monotonic()))
        if slot.process.is_alive():
            _log.error("Worker %s did not stop within %.0f s and is killed.", slot.process.pid, seconds)
            slot.process.kill()
            slot.process.join()
        slot.connection.close()


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals that tell to stop, as they come."""
    told: list[int] = []
    before = {each: signal.signal(each, lambda number, _: told.append(number)) for each in _TOLD_BY}
    try:
        yield told
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _main(work: Work, connection: Connection) -> None:
    os.setpgrp()  # what a terminal sends is the supervisor's to pass on
    line = Line(connection)
    try:
        work(line)
    except CopydeskError as error:
        line.failed(error)
        raise SystemExit(1) from None
