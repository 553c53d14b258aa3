"""`copydesk serve` put together: models, keys and queues, the application over them, and the process that runs it.

Knows the parts; each of them is its own module.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from socket import socket

from starlette.types import ASGIApp

from copydesk.loading import load
from copydesk.serving.admission import QueueSettings
from copydesk.serving.announcement import address, announcement
from copydesk.serving.app import build_app
from copydesk.serving.backend import Backend, Router
from copydesk.serving.drain import Drain
from copydesk.serving.entrance import Entrance
from copydesk.serving.keys import KeyFile, Keyring, fresh_key, usual_file
from copydesk.serving.logs import Log, RequestLog, take_over
from copydesk.serving.model_backend import ModelBackend
from copydesk.serving.naming import unknown_model
from copydesk.serving.playground import page_routes
from copydesk.serving.quotas import Quotas, QuotaSettings
from copydesk.serving.server import bound_socket, run
from copydesk.serving.settings import ModelSettings, Settings


def serve(settings: Settings) -> int:
    """Serve until told to stop, and return the signal that told it.

    The port is taken first, so that one in use is said at once; it is listened on once the models answer.
    Errors: `CopydeskError` for a port that cannot be had or a model that cannot be loaded, `UsageError`.
    """
    listener = bound_socket(settings.host, settings.port)
    try:
        return serve_on(listener, settings)
    finally:
        listener.close()


def serve_on(listener: socket, settings: Settings) -> int:
    """As `serve`, on a socket that is bound."""
    drain, log = Drain(), Log()
    try:
        return run(partial(_application, settings, listener, drain, log), settings.limits, listener, drain)
    finally:
        log.close()


@asynccontextmanager
async def _application(settings: Settings, listener: socket, drain: Drain, log: Log) -> AsyncIterator[ASGIApp]:
    keyring = Keyring(file=KeyFile(usual_file()))
    secret = None
    if not len(keyring):
        secret, key = fresh_key()
        keyring = Keyring([key], file=KeyFile(usual_file()))
    async with AsyncExitStack() as stack:
        router = await stack.enter_async_context(_models(settings.models))
        entrance = Entrance(keyring, Quotas(QuotaSettings()), QueueSettings())
        stack.push_async_callback(entrance.close)
        app = build_app(
            limits=settings.limits,
            router=router,
            gate=entrance,
            observer=RequestLog(log),
            drain=drain,
            public=page_routes() if settings.page else (),
        )
        take_over(log)
        host, port = listener.getsockname()[:2]
        _say(announcement(address(host, port), router.names[0], secret))
        yield app


@asynccontextmanager
async def _models(settings: Sequence[ModelSettings]) -> AsyncIterator[Router]:
    async with AsyncExitStack() as stack:
        backends = {}
        for each in settings:
            model = await asyncio.to_thread(
                load, each.model, engine=each.engine, draft=each.draft, learn=each.learn, **each.options
            )
            stack.push_async_callback(asyncio.to_thread, model.close)
            backends[each.name] = ModelBackend(each.name, model)
        yield _PlainRouter(backends)


class _PlainRouter:
    """Satisfies `Router`."""

    def __init__(self, backends: dict[str, ModelBackend]) -> None:
        self._backends = backends

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._backends)

    def choose(self, model: str | None, caller: str) -> Backend:
        name = model or self.names[0]
        if name not in self._backends:
            raise unknown_model(name)
        return self._backends[name]


def _say(text: str) -> None:
    """To standard output, at once; where nobody reads it, to nobody."""
    if sys.stdout is not None:
        with suppress(OSError):
            sys.stdout.write(text)
            sys.stdout.flush()
