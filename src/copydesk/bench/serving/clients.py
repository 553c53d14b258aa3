"""Clients that each send their next request once the last is answered, and what they saw for a while.

Knows bytes and statuses, not what is asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpx

_SECONDS_TO_ANSWER = 300.0
_SECONDS_TO_DRAIN = 3.0
"""What requests that are still open get, once all is measured."""
_PAUSE = 0.05
"""After a request that was not even refused."""
_MOST_TIMES = 10
"""Longer than so many times what was asked no measurement takes, for want of answers or not."""


@dataclass(frozen=True, slots=True)
class Load:
    """How many clients there are, and for how long."""

    clients: int
    seconds: float
    """Measured; more where fewer answers came than there are clients."""
    warm_up: float
    """Seconds before, and until each client has been answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    text: str
    status: int
    """0 where there was none."""
    body: bytes
    ms: float


@dataclass(frozen=True, slots=True)
class Window:
    """What was seen while it was measured."""

    replies: tuple[Reply, ...]
    """Those that ended in it, in order."""
    seconds: float
    client_seconds: float
    """Processor time of this process."""
    server_seconds: float


def drive(
    url: str,
    headers: Mapping[str, str],
    texts: Iterator[str],
    body: Callable[[str], bytes],
    load: Load,
    processor_seconds: Callable[[], float],
) -> Window:
    """Ask `url` about one text after another, by so many clients at once.

    `processor_seconds` says what the server has taken until now.
    """
    return asyncio.run(_drive(url, headers, texts, body, load, processor_seconds))


async def _drive(
    url: str,
    headers: Mapping[str, str],
    texts: Iterator[str],
    body: Callable[[str], bytes],
    load: Load,
    processor_seconds: Callable[[], float],
) -> Window:
    replies: list[Reply] = []
    limits = httpx.Limits(max_connections=load.clients, max_keepalive_connections=load.clients)
    own = {"Content-Type": "application/json", **headers}
    async with httpx.AsyncClient(headers=own, limits=limits, timeout=_SECONDS_TO_ANSWER, trust_env=False) as http:
        stop = asyncio.Event()
        clients = [asyncio.create_task(_client(http, url, texts, body, replies, stop)) for _ in range(load.clients)]
        try:
            await _until(load.warm_up, replies, load.clients)
            seen, began = len(replies), time.perf_counter()
            client, server = time.process_time(), processor_seconds()
            await _until(load.seconds, replies, seen + load.clients)
            client, server = time.process_time() - client, processor_seconds() - server
            window = Window(tuple(replies[seen:]), time.perf_counter() - began, client, server)
            stop.set()
            await asyncio.wait(clients, timeout=_SECONDS_TO_DRAIN)
        finally:
            for task in clients:
                task.cancel()
            await asyncio.gather(*clients, return_exceptions=True)
    return window


async def _until(seconds: float, replies: list[Reply], answers: int) -> None:
    """So long, and until there are so many answers."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds or len(replies) < answers:
        if passed > _MOST_TIMES * seconds + 1:
            return
        await asyncio.sleep(min(0.02, max(0.0, seconds - passed)) or 0.02)


async def _client(
    http: httpx.AsyncClient,
    url: str,
    texts: Iterator[str],
    body: Callable[[str], bytes],
    replies: list[Reply],
    stop: asyncio.Event,
) -> None:
    while not stop.is_set():
        text = next(texts)
        asked = body(text)
        began = time.perf_counter()
        try:
            response = await http.post(url, content=asked)
            status, answer = response.status_code, response.content
        except httpx.HTTPError:
            status, answer = 0, b""
        replies.append(Reply(text, status, answer, (time.perf_counter() - began) * 1e3))
        if not status:
            await asyncio.sleep(_PAUSE)
