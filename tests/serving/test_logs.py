"""The log: what is in it, and that it holds nobody up."""

from __future__ import annotations

import errno
import io
import json
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from copydesk.serving.events import Finished
from copydesk.serving.logs import Log, LogHandler, RequestLog, take_over
from copydesk.types import Usage


def finished(**more: Any) -> Finished:
    given = {
        "request": "r1",
        "method": "POST",
        "route": "/v1/extract",
        "status": 200,
        "outcome": "ok",
        "seconds": 0.0125,
        "model": "fake",
        "caller": "k1",
        "client": "127.0.0.1",
        "usage": Usage(7, 3, 5),
        "answers": 1,
        "passes": 2,
        "accepted": 0.5,
        "source": "rules",
    }
    return Finished(**(given | more))


def told(*entries: Finished) -> list[dict[str, Any]]:
    lines: list[bytes] = []
    log = Log(lines.append)
    requests = RequestLog(log)
    for entry in entries:
        requests.request_started(entry.route)
        requests.request_finished(entry)
    log.close()
    return [json.loads(line) for line in lines]


def test_a_line_for_each_request() -> None:
    line = told(finished(first_token_seconds=0.001, verified=False))[0]
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "request",
        "request": "r1",
        "method": "POST",
        "route": "/v1/extract",
        "status": 200,
        "outcome": "ok",
        "ms": 12.5,
        "first_token_ms": 1.0,
        "model": "fake",
        "key": "k1",
        "client": "127.0.0.1",
        "prompt_tokens": 7,
        "cached_tokens": 3,
        "completion_tokens": 5,
        "answers": 1,
        "passes": 2,
        "accepted": 0.5,
        "source": "rules",
        "verified": False,
    }


def test_what_is_not_known_is_left_out() -> None:
    line = told(finished(usage=None, model=None, caller=None, answers=0, passes=0, accepted=None, source=None))[0]
    assert set(line) == {"time", "level", "event", "request", "method", "route", "status", "outcome", "ms", "client"}


def test_probes_are_told_only_when_they_fail() -> None:
    lines = told(finished(route="/health"), finished(route="/health/ready", status=503), finished(route="/metrics"))
    assert [(line["route"], line["status"]) for line in lines] == [("/health/ready", 503)]


def test_a_full_disk_and_a_closed_stream_lose_lines_and_nothing_else() -> None:
    for error in (OSError(errno.ENOSPC, "No space left on device"), ValueError("I/O operation on closed file")):
        calls: list[bytes] = []

        def write(line: bytes, error: Exception = error, calls: list[bytes] = calls) -> None:
            calls.append(line)
            if len(calls) == 1:
                raise error

        log = Log(write)
        log.put({"n": 1})
        log.put({"n": 2})
        log.close()
        assert (len(calls), log.lost) == (2, 1)


def test_a_log_that_is_stuck_holds_nobody_up() -> None:
    stuck = threading.Event()
    log = Log(lambda line: stuck.wait(5))
    started = time.monotonic()
    for number in range(10_100):
        log.put({"n": number})
    assert time.monotonic() - started < 3
    assert log.lost >= 99
    stuck.set()
    log.close()


@pytest.fixture
def loggers() -> Iterator[list[logging.Logger]]:
    """The loggers that are taken over, put back afterwards."""
    found = [logging.getLogger(name) for name in ("copydesk", "uvicorn.error")]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in found]
    yield found
    for logger, (handlers, level, propagate) in zip(found, before, strict=True):
        logger.handlers[:], logger.level, logger.propagate = handlers, level, propagate


def test_messages_of_the_library_and_of_uvicorn(loggers: list[logging.Logger]) -> None:
    lines: list[bytes] = []
    log = Log(lines.append)
    take_over(log)
    take_over(log)
    logging.getLogger("copydesk.serving").warning("A model is %s.", "slow")
    logging.getLogger("uvicorn.error").info("Shutting down")
    try:
        raise ValueError("secret")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    log.close()
    read = [json.loads(line) for line in lines]
    assert [line["message"] for line in read] == ["A model is slow.", "Exception in ASGI application"]
    assert (read[0]["level"], read[0]["from"]) == ("warning", "copydesk.serving")
    assert b"secret" not in b"".join(lines)
    assert all(isinstance(handler, LogHandler) for logger in loggers for handler in logger.handlers)


def test_standard_error_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    log = Log()
    log.put({"event": "城"})
    log.close()
    assert json.loads(stream.getvalue())["event"] == "城"
    monkeypatch.setattr("sys.stderr", None)
    silent = Log()
    silent.put({"event": "x"})
    silent.close()
    assert silent.lost == 0
