"""What every request passes on its way in and out: its id, its key, the account of it, and errors in one shape.

Knows of routes only their names, and which are for everybody.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import secrets
from collections.abc import Collection

import orjson
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from copydesk.serving.body import HungUpError
from copydesk.serving.errors import ApiError, api_error
from copydesk.serving.events import Observer
from copydesk.serving.exchange import UNMATCHED, Exchange
from copydesk.serving.gate import Gate

EXCHANGE = "copydesk.exchange"
"""Where a scope holds the request's `Exchange`."""
STOPPING = ApiError(503, "The server is stopping.", code="stopping", retry_after=1.0)
_PUBLIC = re.compile(r"/|/health(/.*)?|/metrics|/page/.*")
_MODELS = "/v1/models/"
_REQUEST_ID = re.compile(rb"[\w.:/+=@-]{1,128}")
_HUNG_UP = 499
"""nginx's status for it; nobody sees it but logs and counters."""
_WORDS = {
    404: ("There is nothing at this path.", "not_found"),
    405: ("The path does not take this method.", "method_not_allowed"),
}

_log = logging.getLogger("copydesk.serving")


class Front:
    """The outermost application."""

    def __init__(self, app: ASGIApp, paths: Collection[str], gate: Gate, observer: Observer) -> None:
        """`paths` are those that `app` has, for accounts to name; any other is `unmatched` there."""
        self._app = app
        self._paths = frozenset(paths)
        self._gate = gate
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        client = scope.get("client")
        exchange = Exchange(
            _request_id(headers), scope["method"], self._route(scope["path"]), client[0] if client else None
        )
        scope[EXCHANGE] = exchange
        scope["app"] = self._app  # with it, what Starlette has no route for is raised rather than answered
        out = _Out(exchange, send)
        self._observer.request_started(exchange.route)
        try:
            await self._answer(scope, headers, receive, out)
        finally:
            self._observer.request_finished(exchange.finished())

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, out: _Out) -> None:
        exchange = out.exchange
        try:
            if not _PUBLIC.fullmatch(scope["path"]):
                exchange.caller = self._gate.identify(_authorization(headers))
            await self._app(scope, receive, out)
        except HungUpError:
            exchange.status, exchange.outcome = _HUNG_UP, "cancelled"
        except asyncio.CancelledError:
            # What answers in progress get to finish has passed.
            await out.fail(STOPPING)
            raise
        except Exception as error:
            await out.fail(_told(error, exchange))

    def _route(self, path: str) -> str:
        if path.startswith(_MODELS):
            return f"{_MODELS}{{model}}"
        return path if path in self._paths else UNMATCHED


class _Out:
    """The way out of one request: adds what every answer's headers have."""

    def __init__(self, exchange: Exchange, send: Send) -> None:
        self.exchange = exchange
        self._begun = False
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            self.exchange.status = message["status"]
            identity = (b"x-request-id", self.exchange.request.encode())
            message = {**message, "headers": [*message.get("headers", ()), identity]}
        await self._send(message)

    async def fail(self, error: ApiError) -> None:
        """Answer with an error. Where an answer has begun nothing can be said: the connection is closed on return."""
        self.exchange.failed(error)
        if self._begun:
            return
        body = orjson.dumps(error.to_dict())
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in error.headers.items()),
        ]
        if error.retry_after is not None:
            headers.append((b"retry-after", str(max(1, math.ceil(error.retry_after))).encode()))
        await self({"type": "http.response.start", "status": error.status, "headers": headers})
        await self({"type": "http.response.body", "body": body})


def _request_id(headers: dict[bytes, bytes]) -> str:
    """The caller's own, if it is a plain word; else a fresh one."""
    given = headers.get(b"x-request-id", b"")
    return given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(12)


def _authorization(headers: dict[bytes, bytes]) -> str | None:
    given = headers.get(b"authorization")
    return given.decode("latin-1") if given is not None else None


def _told(error: Exception, exchange: Exchange) -> ApiError:
    if isinstance(error, HTTPException):
        words, code = _WORDS.get(error.status_code, (error.detail, None))
        return ApiError(error.status_code, words, code=code, headers=dict(error.headers or {}))
    return api_error(error)
