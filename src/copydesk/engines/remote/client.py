"""Requests to one server: a bounded number at once, asked again where that is safe, within time limits.

Speaks HTTP and JSON; knows nothing of what is asked. Cancelling a call closes its connection.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import httpx

from copydesk.engines.remote.failures import is_page, page, refusal, words
from copydesk.engines.remote.patience import AGAIN, Patience, asked_wait
from copydesk.errors import CopydeskError, EngineError
from copydesk.types import Json

Result = TypeVar("Result")


class AgainError(Exception):
    """A failure after which the same request may succeed."""

    def __init__(self, error: CopydeskError, asked: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.asked = asked


class Client:
    """Asks one server. To be used in one event loop only."""

    def __init__(
        self,
        origin: str,
        *,
        api_key: str | None = None,
        concurrency: int = 16,
        patience: Patience | None = None,
        proxies: bool = True,
    ) -> None:
        """`origin` is an address without a path. `proxies` says whether the environment's are used."""
        self._origin = origin
        self._patience = patience or Patience()
        self._slots = asyncio.Semaphore(concurrency)
        self._http = httpx.AsyncClient(
            base_url=origin,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(self._patience.request, connect=self._patience.connect, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=concurrency),
            trust_env=proxies,
            verify=origin.startswith("https"),  # reading the certificates takes its time
        )

    async def get(self, path: str) -> httpx.Response:
        """The answer, whatever its status, at the first attempt. Errors: `EngineError` when there is none."""
        try:
            return await self._once(httpx.Request("GET", self._origin + path, headers=self._http.headers))
        except AgainError as again:
            raise again.error from again

    async def post(self, path: str, body: Json, *, again: bool = True) -> Json:
        """The object that the server answers; `again` says whether it is asked more than once.

        Errors: those of `refusal`, `EngineError` for all else that goes wrong.
        """
        request = self._post(path, body)

        async def once() -> Json:
            response = await self._once(request)
            return self._object(request, self._accepted(request, response))

        async with self._slots:
            return await self._repeated(once, self._patience.attempts if again else 1)

    async def events(self, path: str, body: Json) -> AsyncGenerator[Json, None]:
        """The objects of a stream as they come. Asked again only before the first one.

        Errors: as `post`; `EngineError` also where the stream breaks off.
        """
        request = self._post(path, body)

        async def once() -> httpx.Response:
            return await self._begun(request)

        async with self._slots:
            response = await self._repeated(once, self._patience.attempts)
            try:
                async with aclosing(_data(response)) as stream:
                    async for data in stream:
                        yield self._object(request, data)
            except httpx.TransportError as error:
                raise EngineError(
                    f"The answer of {request.url} broke off: {_reason(error)}. Ask again.", code="engine_failed"
                ) from error
            finally:
                await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _post(self, path: str, body: Json) -> httpx.Request:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        return self._http.build_request("POST", path, content=content, headers={"Content-Type": "application/json"})

    async def _repeated(self, once: Callable[[], Awaitable[Result]], attempts: int) -> Result:
        """What `once` gives, at one of several attempts."""
        end = time.monotonic() + self._patience.total
        attempt = 1
        while True:
            try:
                return await once()
            except AgainError as again:
                wait = self._patience.wait(attempt, again.asked)
                if attempt >= attempts or time.monotonic() + wait > end:
                    raise again.error from again
            await asyncio.sleep(wait)
            attempt += 1

    async def _once(self, request: httpx.Request) -> httpx.Response:
        """One answer, read to its end. Errors: `AgainError`, `EngineError`."""
        try:
            async with asyncio.timeout(self._patience.request):
                return await self._http.send(request)
        except (TimeoutError, httpx.TransportError, httpx.InvalidURL) as error:
            raise self._failed(request, error) from error

    async def _begun(self, request: httpx.Request) -> httpx.Response:
        """One answer that is still to be read. Errors: `AgainError`, and those of `refusal`."""
        try:
            response = await self._http.send(request, stream=True)
            if response.status_code == 200 and "event-stream" in response.headers.get("Content-Type", ""):
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise self._failed(request, error) from error
        self._object(request, self._accepted(request, response))
        raise EngineError(f"{request.url} was to stream its answer and did not; use another server.")

    def _accepted(self, request: httpx.Request, response: httpx.Response) -> bytes:
        """The body of an answer of status 200. Errors: `AgainError`, and those of `refusal`."""
        where, kind = str(request.url), response.headers.get("Content-Type", "")
        if response.status_code == 200:
            if is_page(response.content[:100].decode(errors="replace"), kind):
                raise page(where)
            return response.content
        error = refusal(where, response.status_code, response.content.decode(errors="replace"), kind)
        if response.status_code in AGAIN:
            raise AgainError(error, asked_wait(response.headers.get("Retry-After")))
        raise error

    def _failed(self, request: httpx.Request, error: Exception) -> Exception:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return AgainError(
                EngineError(
                    f"Nobody answers at {self._origin} ({_reason(error)}); start the server, or check the address."
                )
            )
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            return EngineError(
                f"{request.url} did not answer within {self._patience.request:g} s; ask for less, or allow more time.",
                code="timeout",
            )
        failed = EngineError(f"{request.url} broke off: {_reason(error)}.", code="engine_failed")
        return AgainError(failed) if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError) else failed

    def _object(self, request: httpx.Request, body: bytes) -> Json:
        try:
            found: Any = json.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise EngineError(
                f"{request.url} answers what is no JSON object: {words(body.decode(errors='replace'))}",
                code="engine_failed",
            )
        if found.get("error"):
            raise EngineError(f"{request.url} failed: {words(body.decode())}", code="engine_failed")
        return found


async def _data(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The data of server-sent events, up to the one that says that it was the last."""
    rest = b""
    async for chunk in response.aiter_bytes():
        # Not by httpx's lines: those end at characters such as U+2028 too, which JSON texts hold.
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            name, _, data = line.rstrip(b"\r").partition(b":")
            if name != b"data" or not data.strip():
                continue
            if data.strip() == b"[DONE]":
                return
            yield data


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
