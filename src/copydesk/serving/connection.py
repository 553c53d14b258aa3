"""A client's connection: uvicorn's HTTP/1.1, with an end to whatever a client may take its time over.

Headers that do not come, bodies that trickle, answers nobody takes, and more connections than the server holds: of
those the ones without a request go first. Knows no routes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import h11
import orjson
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from copydesk.serving.errors import ApiError
from copydesk.serving.lingering import LingeringTransport
from copydesk.serving.settings import Limits

_GRACE_SECONDS = 5.0
"""What a body may take beyond its limit before the connection is cut: the route that reads it answers first."""


class Connection(H11Protocol):
    """One connection. `protocol_for` gives the class its limits."""

    limits = Limits()
    idle: dict[Connection, None]
    """Connections without a request, the longest waiting first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._begun = False
        """Whether part of a request is there whose headers are not complete."""
        self._in_body = False
        """Whether the timer is the one of a body."""
        self._answering: RequestResponseCycle | None = None
        """The last request whose answer has begun."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._lingering = LingeringTransport(transport, self.loop, self._is_sending, self._begins_answer)
        super().connection_made(self._lingering)
        if len(self.connections) > self.limits.max_connections:
            self._make_room()
        self._wait(self._close_quietly, self.limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self.idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering.lingers:
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._between_requests():
            self._busy()
        elif not self._begun:
            # Part of a request: from its first byte on, not from each.
            self._begun = True
            self._wait(self._late, self.limits.header_seconds)

    def on_response_complete(self) -> None:
        self._begun = False
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._arm(self.transport.abort, self.limits.write_seconds)
        elif self._between_requests() and not self.transport.is_closing():
            self._disarm()  # what is idle now uvicorn closes
            self.idle[self] = None

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to what is no HTTP, in our shape. Called where h11's error is being handled."""
        error = sys.exc_info()[1]
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431:
            most = self.limits.max_header_bytes
            self._refuse(
                ApiError(431, f"The headers are longer than the {most:,} bytes taken.", code="headers_too_large")
            )
        else:
            self._refuse(ApiError(400, "This is no HTTP/1.1 request.", code="invalid_http"))

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _is_sending(self) -> bool:
        """Whether the client is in the middle of a request's body."""
        return self.cycle is not None and self.cycle.more_body

    def _begins_answer(self) -> bool:
        """Whether what is written now are an answer's headers, which its body follows at once."""
        cycle = self.cycle
        if cycle is None or not cycle.response_started or cycle.response_complete or cycle is self._answering:
            return False
        self._answering = cycle
        return True

    def _busy(self) -> None:
        self._begun = False
        self.idle.pop(self, None)
        if not self._is_sending():
            self._disarm()
        elif not self._in_body:
            self._arm(self.transport.abort, self.limits.body_seconds + _GRACE_SECONDS)
            self._in_body = True

    def _wait(self, over: Callable[[], None], seconds: float) -> None:
        self.idle.setdefault(self, None)
        self._arm(over, seconds)

    def _arm(self, over: Callable[[], None], seconds: float) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, over)

    def _disarm(self) -> None:
        self._in_body = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_quietly(self) -> None:
        self.transport.abort()

    def _late(self) -> None:
        seconds = self.limits.header_seconds
        self._refuse(ApiError(408, f"The headers did not arrive within {seconds:g} s.", code="slow_headers"))

    def _make_room(self) -> None:
        oldest = next(iter(self.idle), None)
        if oldest is not None:
            self.idle.pop(oldest)
            oldest.transport.abort()
        else:
            self._refuse(ApiError(503, "The server holds too many connections.", code="saturated", retry_after=1.0))

    def _refuse(self, error: ApiError) -> None:
        """Answer what never became a request, and close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = orjson.dumps(error.to_dict())
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            if error.retry_after is not None:
                headers.append((b"retry-after", b"1"))
            events = (h11.Response(status_code=error.status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self._lingering.linger()


def protocol_for(limits: Limits) -> type[Connection]:
    """The protocol of a server with these limits."""
    return type("LimitedConnection", (Connection,), {"limits": limits, "idle": {}})
