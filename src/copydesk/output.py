"""What a command writes: data on standard output, one JSON value a line; messages and progress on standard error.

Knows no commands. Standard output may be closed by whoever reads it: that ends the command quietly.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from time import monotonic
from types import TracebackType
from typing import Any, Self, TextIO

from copydesk.errors import CopydeskError

_CLEAR = "\r\x1b[K"


def prepare() -> None:
    """Write UTF-8 whatever the locale, and give the library's warnings the form of messages.

    Errors: `CopydeskError` when there is no standard output at all.
    """
    if sys.stdout is None:
        raise CopydeskError("standard output is closed.")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A lone surrogate, written with a backslash, is the JSON escape of itself.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    logger = logging.getLogger("copydesk")
    if not any(isinstance(handler, _Messages) for handler in logger.handlers):
        logger.addHandler(_Messages(logging.WARNING))


def put(value: Any, *, indented: bool = False) -> None:
    """One line of data, out at once; `indented` lays a single object out for a reader.

    Errors: `BrokenPipeError` when nobody reads any more, `CopydeskError` when it cannot be written.
    """
    write(json.dumps(value, ensure_ascii=False, indent=2 if indented else None) + "\n")


def write(text: str) -> None:
    """Data that is text, out at once. Errors: as `put`."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _abandon(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise CopydeskError(f"standard output: {error.strerror}.") from error


def say(message: str) -> None:
    """One line to whoever runs the command; where standard error cannot be written, to nobody."""
    line = " ".join(message.split())
    if sys.stderr is not None:
        tell(f"{_CLEAR if sys.stderr.isatty() else ''}copydesk: {line}\n")


class Progress:
    """How many rows are done, on a terminal's standard error; silent anywhere else, and where the data is shown too."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty() and not sys.stdout.isatty()
        self._start = self._last = monotonic()
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            tell(_CLEAR)

    def step(self) -> None:
        """One more row is done; at most five updates a second are drawn."""
        self._done += 1
        now = monotonic()
        if self._shown and now - self._last >= 0.2:
            self._last = now
            tell(f"{_CLEAR}{self._done} rows, {self._done / (now - self._start):.1f}/s")


def tell(words: str) -> None:
    """Write to standard error at once. That it is full or has no reader is no reason to keep the data back."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(words)
        sys.stderr.flush()
    except OSError:
        _abandon(sys.stderr)


def _abandon(stream: TextIO) -> None:
    """Forget what a stream still holds, so that closing it at exit cannot fail a second time."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


class _Messages(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())
