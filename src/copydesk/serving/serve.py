"""`copydesk serve` put together: models, keys and queues, the application over them, and the processes that run it.

Knows the parts; each of them is its own module.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from socket import socket

from starlette.types import ASGIApp

from copydesk.serving.announcement import address, announcement
from copydesk.serving.app import build_app
from copydesk.serving.config import Config
from copydesk.serving.drain import Drain
from copydesk.serving.events import Finished, Observer
from copydesk.serving.keys import fresh_key
from copydesk.serving.logs import Log, RequestLog, take_over
from copydesk.serving.metrics import FOLDER
from copydesk.serving.operations import keyring, operations
from copydesk.serving.playground import page_routes
from copydesk.serving.server import bound_socket, run
from copydesk.serving.workers import Line, run_workers

_SECONDS_TO_END = 10.0
"""What a worker gets beyond its own limits for stopping."""


def serve(config: Config) -> int:
    """Serve until told to stop, and return the signal that told it.

    The port is taken first, so that one in use is said at once; it is listened on once the models answer.
    Errors: `CopydeskError` for a port that cannot be had or a model that cannot be loaded, `UsageError`.
    """
    listener = bound_socket(config.settings.host, config.settings.port)
    try:
        return serve_on(listener, config)
    finally:
        listener.close()


def serve_on(listener: socket, config: Config) -> int:
    """As `serve`, on a socket that is bound."""
    secret = None
    if not len(keyring(config)):
        secret, key = fresh_key()
        config = replace(config, keys=(key,))
    host, port = listener.getsockname()[:2]
    announce = partial(_say, announcement(address(host, port), config.names[0].name, secret))
    if config.workers > 1:
        return _in_workers(listener, config, announce)

    async def ready() -> None:
        announce()

    return _in_process(listener, config, ready)


def _in_workers(listener: socket, config: Config, announce: Callable[[], None]) -> int:
    limits, log = config.settings.limits, Log()
    take_over(log)
    try:
        with tempfile.TemporaryDirectory(prefix="copydesk-metrics-") as folder:
            os.environ[FOLDER] = folder
            return run_workers(
                config.workers,
                partial(_worker, listener, config),
                all_ready=announce,
                stop_seconds=limits.linger_seconds + limits.drain_seconds + _SECONDS_TO_END,
            )
    finally:
        os.environ.pop(FOLDER, None)
        log.close()


def _worker(listener: socket, config: Config, line: Line) -> None:
    _in_process(listener, config, line.ready)


def _in_process(listener: socket, config: Config, ready: Callable[[], Awaitable[None]]) -> int:
    drain, log = Drain(), Log()
    try:
        return run(partial(_application, config, drain, log, ready), config.settings.limits, listener, drain)
    finally:
        log.close()


@asynccontextmanager
async def _application(
    config: Config, drain: Drain, log: Log, ready: Callable[[], Awaitable[None]]
) -> AsyncIterator[ASGIApp]:
    async with operations(config, keyring(config), drain) as parts:
        app = build_app(
            limits=config.settings.limits,
            router=parts.router,
            gate=parts.gate,
            observer=_Both(parts.metrics, RequestLog(log)),
            public=[*parts.public_routes(), *(page_routes() if config.settings.page else ())],
        )
        take_over(log)
        await ready()
        yield app


class _Both:
    """Two observers as one."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._observers = (first, second)

    def request_started(self, route: str) -> None:
        for observer in self._observers:
            observer.request_started(route)

    def request_finished(self, finished: Finished) -> None:
        for observer in self._observers:
            observer.request_finished(finished)


def _say(text: str) -> None:
    """To standard output, at once; where nobody reads it, to nobody."""
    if sys.stdout is not None:
        with suppress(OSError):
            sys.stdout.write(text)
            sys.stdout.flush()
