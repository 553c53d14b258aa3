"""The server's log: one JSON object a line on standard error, for each request and each thing to tell.

No text, body or key is ever part of it. Lines are written by a thread of their own: a log that is slow, full or closed
holds nobody up, and what cannot be written is counted and left out.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

from copydesk.serving.events import Finished

_WAITING = 10_000
"""Lines that may wait to be written."""
_PROBES = ("/health", "/metrics")
"""What is asked for all the time; logged only where it fails."""


class Log:
    """Where lines go. Safe to share between threads."""

    def __init__(self, write: Callable[[bytes], object] | None = None) -> None:
        """`write` takes whole lines; by default to standard error."""
        self._write = write or _to(sys.stderr)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lost = 0
        self._thread = threading.Thread(target=self._run, name="copydesk-log", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Lines that could not be written."""
        return self._lost

    def put(self, entry: dict[str, Any]) -> None:
        """A line; what is None is left out of it."""
        told = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")} | entry
        line = orjson.dumps({key: value for key, value in told.items() if value is not None}) + b"\n"
        if self._lines.qsize() < _WAITING:
            self._lines.put(line)
        else:
            self._lost += 1

    def close(self) -> None:
        """Write what waits, for a second at most."""
        self._lines.put(None)
        self._thread.join(1.0)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line)
            except (OSError, ValueError):  # full, or closed
                self._lost += 1


class RequestLog:
    """A line for each request; satisfies `Observer`."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def request_started(self, route: str) -> None:
        """Nothing is told yet."""

    def request_finished(self, finished: Finished) -> None:
        """Tell of it."""
        if finished.route.startswith(_PROBES) and finished.status < 400:
            return
        used = finished.usage
        first = finished.first_token_seconds
        self._log.put(
            {
                "level": "info",
                "event": "request",
                "request": finished.request,
                "method": finished.method,
                "route": finished.route,
                "status": finished.status,
                "outcome": finished.outcome,
                "ms": round(finished.seconds * 1e3, 3),
                "first_token_ms": None if first is None else round(first * 1e3, 3),
                "model": finished.model,
                "key": finished.caller,
                "client": finished.client,
                "prompt_tokens": used.prompt_tokens if used else None,
                "cached_tokens": used.cached_tokens if used else None,
                "completion_tokens": used.completion_tokens if used else None,
                "answers": finished.answers or None,
                "passes": finished.passes or None,
                "accepted": None if finished.accepted is None else round(finished.accepted, 4),
                "source": finished.source,
                "verified": None if finished.verified else False,
            }
        )


class LogHandler(logging.Handler):
    """Messages of the library and of uvicorn as lines. Tracebacks are left out: they quote what callers sent."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message."""
        self._log.put(
            {"level": record.levelname.lower(), "event": "message", "from": record.name, "message": record.getMessage()}
        )


def take_over(log: Log) -> None:
    """Send the library's and uvicorn's messages to a log, instead of wherever they went."""
    for name, level in (("copydesk", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
        logger.addHandler(LogHandler(log))
        logger.setLevel(level)
        logger.propagate = False


def _to(stream: TextIO | None) -> Callable[[bytes], object]:
    if stream is None:
        return lambda line: None

    def write(line: bytes) -> None:
        stream.write(line.decode())
        stream.flush()

    return write
