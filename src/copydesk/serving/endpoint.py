"""One route's requests from body to answer: read, planned, admitted, answered, while the client is there and in time.

Knows no fields: those are in the plans that routes make.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Generic, TypeVar

from starlette.types import Receive, Scope, Send

from copydesk.errors import SchemaError
from copydesk.serving.backend import Router
from copydesk.serving.body import HungUpError, read_json
from copydesk.serving.errors import ApiError, api_error
from copydesk.serving.exchange import Exchange
from copydesk.serving.front import EXCHANGE, STOPPING
from copydesk.serving.gate import Gate
from copydesk.serving.naming import asked_model
from copydesk.serving.plan import Plan
from copydesk.serving.routes.payloads import DONE, event
from copydesk.serving.settings import Limits
from copydesk.serving.wire.base import Wire, read
from copydesk.serving.writer import Headers, Writer, while_there

Body = TypeVar("Body", bound=Wire)
_JSON = (b"content-type", b"application/json")
_STREAM = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
_LAST_WORDS_SECONDS = 1.0

_log = logging.getLogger("copydesk.serving")


class Endpoint(Generic[Body]):
    """An ASGI application for one route."""

    def __init__(
        self, body: type[Body], plan: Callable[[Body, Limits], Plan], router: Router, gate: Gate, limits: Limits
    ) -> None:
        self.body = body
        self._plan = plan
        self._router = router
        self._gate = gate
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        data = await read_json(scope["headers"], receive, self._limits)
        plan = self._plan(read(self.body, data), self._limits)
        name = asked_model(plan.model, scope["query_string"], self._router.names)
        writer = Writer(send, self._limits.write_seconds)
        async with while_there(receive, writer):
            try:
                async with asyncio.timeout(self._limits.request_seconds) as deadline:
                    await self._answer(plan, name, scope[EXCHANGE], writer, deadline)
            except SchemaError as error:
                raise api_error(error, param=plan.param) from error
            except TimeoutError:
                raise self._late() from None

    async def _answer(
        self, plan: Plan, name: str, exchange: Exchange, writer: Writer, deadline: asyncio.Timeout
    ) -> None:
        if exchange.caller is None:
            raise RuntimeError("a request without a caller has come in")
        exchange.model = name
        async with await self._gate.admit(exchange.caller, name, plan.tokens) as admission:
            try:
                backend = self._router.choose(name, exchange.caller.name)
                answer = await plan.answer(backend, exchange)
                headers = [(key.lower().encode(), value.encode()) for key, value in admission.headers.items()]
                if isinstance(answer, bytes):
                    length = (b"content-length", str(len(answer)).encode())
                    await writer.start([_JSON, length, *_source(exchange), *headers])
                    await writer.put(answer, last=True)
                else:
                    async with aclosing(answer):
                        await self._stream(answer, headers, exchange, writer, deadline)
            finally:
                if exchange.usage is not None:
                    admission.used(exchange.usage)

    async def _stream(
        self,
        events: AsyncGenerator[bytes, None],
        headers: Headers,
        exchange: Exchange,
        writer: Writer,
        deadline: asyncio.Timeout,
    ) -> None:
        """Errors before the first event are raised, and get a status; later ones become an event."""
        first = await anext(events)
        await writer.start([*_STREAM, *_source(exchange), *headers])
        try:
            await writer.put(first)
            async for written in events:
                await writer.put(written)
            await writer.put(b"", last=True)
        except HungUpError:
            raise
        except asyncio.CancelledError:
            with suppress(HungUpError, TimeoutError):
                async with asyncio.timeout(_LAST_WORDS_SECONDS):
                    await _last_words(self._late() if deadline.expired() else STOPPING, exchange, writer)
            raise
        except Exception as error:
            await _last_words(api_error(error), exchange, writer)

    def _late(self) -> ApiError:
        return ApiError(504, f"The answer was not there within {self._limits.request_seconds:g} s.", code="deadline")


async def _last_words(error: ApiError, exchange: Exchange, writer: Writer) -> None:
    """End a stream with an error."""
    exchange.failed(error)
    await writer.put(event(error.to_dict()))
    await writer.put(DONE, last=True)


def _source(exchange: Exchange) -> Headers:
    """Who wrote an answer that no model verified."""
    return [] if exchange.verified else [(b"x-copydesk-source", (exchange.source or "unknown").encode())]
