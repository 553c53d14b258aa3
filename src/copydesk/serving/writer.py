"""An answer on its way to a client that may be slow, or gone.

Knows no routes. What is handed over is bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive, Send

from copydesk.serving.body import HungUpError

Headers = list[tuple[bytes, bytes]]


class Writer:
    """Hands one answer over. A client that takes nothing for too long is as good as gone: `HungUpError`."""

    def __init__(self, send: Send, seconds: float) -> None:
        """`seconds` is how long a client may take nothing."""
        self.ended = False
        self._send = send
        self._seconds = seconds

    async def start(self, headers: Headers) -> None:
        """The status, 200, and the headers."""
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def put(self, body: bytes, *, last: bool = False) -> None:
        """Part of the body."""
        self.ended |= last
        try:
            async with asyncio.timeout(self._seconds):
                await self._send({"type": "http.response.body", "body": body, "more_body": not last})
        except TimeoutError:
            raise HungUpError from None


@asynccontextmanager
async def while_there(receive: Receive, writer: Writer) -> AsyncIterator[None]:
    """Cancels what is inside when the client hangs up before the answer has ended, and raises `HungUpError` then."""
    working = asyncio.current_task()
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        if working is not None and not writer.ended:
            gone = True
            working.cancel()

    watching = asyncio.ensure_future(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not gone or working is None or working.uncancel():
            raise
        raise HungUpError from None
    finally:
        watching.cancel()
