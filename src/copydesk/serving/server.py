"""A server as a process: its socket, its signals, its stopping.

Knows no routes: it runs an application that is handed in. Told to stop (SIGTERM, SIGINT, Ctrl-Break) it says so to
readiness probes, lingers if asked to, takes no new connections, lets answers in progress finish, and ends; told twice
it ends at once.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from copydesk.errors import CopydeskError, UsageError
from copydesk.serving.connection import protocol_for
from copydesk.serving.drain import Drain
from copydesk.serving.settings import Limits

_BACKLOG = 1024


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound and does not listen yet. Errors: `CopydeskError` that says why not, `UsageError`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise UsageError(f"--host {host} --port {port}: no such address ({error}).") from error
    bound = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":  # there it would let two servers share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise CopydeskError(_why_not(host, port, error)) from error
    bound.set_inheritable(False)
    return bound


def run(
    application: Callable[[], AbstractAsyncContextManager[ASGIApp]],
    limits: Limits,
    listener: socket.socket,
    drain: Drain,
) -> int:
    """Serve until told to stop, and return the signal that told it.

    `application` is entered in the event loop before anything listens, and left when all is over; what it raises on
    the way in is raised here.
    """
    told: list[int] = []

    async def serve() -> None:
        async with application() as app:
            config = uvicorn.Config(
                app,
                http=protocol_for(limits),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_BACKLOG,
                timeout_keep_alive=max(1, round(limits.idle_seconds)),
                timeout_graceful_shutdown=max(1, round(limits.drain_seconds)),
                h11_max_incomplete_event_size=limits.max_header_bytes,
            )
            server = _Server(config, drain, limits.linger_seconds, told)
            await server.serve(sockets=[listener])

    with asyncio.Runner(loop_factory=uvicorn.Config("").get_loop_factory()) as runner:
        runner.run(serve())
    return told[0] if told else 0


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, drain: Drain, linger_seconds: float, told: list[int]) -> None:
        """The signals that tell it to stop are added to `told`."""
        super().__init__(config)
        self._drain = drain
        self._linger_seconds = linger_seconds
        self._told = told
        self._told_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See the module. uvicorn's own would have the signal kill the process afterwards."""
        self._told.append(sig)
        self.force_exit = self._told_at is not None
        self.should_exit = self.force_exit or not self._linger_seconds
        self._told_at = time.monotonic()
        self._drain.begin()

    async def on_tick(self, counter: int) -> bool:
        """Stop once it has lingered."""
        if self._told_at is not None and time.monotonic() >= self._told_at + self._linger_seconds:
            self.should_exit = True
        return await super().on_tick(counter)


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE or getattr(error, "winerror", None) == 10048:
        return f"port {port} of {host} is in use; choose another with --port, or stop what listens there."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} of {host} is not for everybody to listen on; choose one from 1024 up with --port."
    return f"{host}:{port} cannot be listened on: {error.strerror or error}."
