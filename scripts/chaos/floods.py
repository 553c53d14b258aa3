"""Clients that misbehave: slow ones, thousands of half-open connections, huge bodies. What the others see meanwhile."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from asking import Outcome, ask, parsed
from server import Server

_PAUSE = 0.2
"""Seconds between a well-behaved client's requests."""
_KEPT_FREE = 256
"""File descriptors that are not used for the flood."""


@dataclass(slots=True)
class Flood:
    """What came of one."""

    name: str
    seen: Counter[str] = field(default_factory=Counter)
    """What the misbehaving clients were told, and how many of them."""
    others: list[Outcome] = field(default_factory=list)
    """What a well-behaved client saw meanwhile."""
    recovered: float | None = None
    """Seconds from the flood's end to a verified answer."""
    note: str = ""

    @property
    def good(self) -> bool:
        """Whether the well-behaved client always got an answer or a proper error, and an answer once it was over."""
        return self.recovered is not None and all(each.kind != "lost" for each in self.others)

    def lines(self) -> list[str]:
        """For people."""
        kinds = Counter(f"{each.kind} {each.value if each.kind in ('refused', 'lost') else ''}" for each in self.others)
        times = [each.seconds for each in self.others if each.kind == "verified"] or [0.0]
        return [
            f"{self.name}: " + ", ".join(f"{count} {what}" for what, count in self.seen.most_common(6)) + self.note,
            "  a well-behaved client meanwhile: "
            + ", ".join(f"{count} {kind.strip()}" for kind, count in kinds.most_common(6))
            + f"; longest {1000 * max(times):.0f} ms, p50 {1000 * statistics.median(times):.0f} ms",
            f"  verified again {self.recovered:.2f} s after it" if self.recovered is not None else "  NOT RECOVERED",
        ]


async def flooded(server: Server, text: str, name: str, flood: Callable[[Flood], Awaitable[None]]) -> Flood:
    """Run a flood beside a well-behaved client."""
    result = Flood(name)
    body = json.dumps({"text": text}).encode()
    over = asyncio.Event()

    async def behave() -> None:
        while not over.is_set():
            result.others.append(await ask((server.host, server.port), server.key, body))
            await asyncio.sleep(_PAUSE)

    behaving = asyncio.create_task(behave())
    await flood(result)
    over.set()
    await behaving
    ended = time.monotonic()
    while time.monotonic() < ended + 30:
        outcome = await ask((server.host, server.port), server.key, body)
        if outcome.kind == "verified":
            result.recovered = outcome.at - ended
            break
        await asyncio.sleep(_PAUSE)
    return result


def slow_clients(server: Server, count: int, seconds: float) -> Callable[[Flood], Awaitable[None]]:
    """Clients that send a byte now and then: half of them of the headers, half of a body."""

    async def one(result: Flood, number: int) -> None:
        head = f"POST /v1/extract HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {server.key}\r\nContent-Length: 5000\r\n"
        sent = head.encode() if number % 2 else f"{head}\r\n".encode()
        try:
            reader, writer = await asyncio.open_connection(server.host, server.port)
        except OSError as error:
            result.seen[f"not connected ({type(error).__name__})"] += 1
            return
        reading = asyncio.create_task(reader.read())
        until = time.monotonic() + seconds
        try:
            writer.write(sent)
            while time.monotonic() < until and not reading.done():
                writer.write(b"x")
                await asyncio.wait((reading,), timeout=0.5)
        except ConnectionError:
            pass
        result.seen[await _said(reading)] += 1
        writer.close()

    async def flood(result: Flood) -> None:
        await asyncio.gather(*(one(result, number) for number in range(count)))

    return flood


def half_open(server: Server, wanted: int, seconds: float) -> Callable[[Flood], Awaitable[None]]:
    """Connections with half a request each, held open."""

    async def one(result: Flood, held: asyncio.Event) -> None:
        try:
            reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(b"POST /v1/extract HTTP/1.1\r\nHost: a\r\n")
            reading = asyncio.create_task(reader.read())
            await asyncio.wait((reading, asyncio.create_task(held.wait())), return_when=asyncio.FIRST_COMPLETED)
            result.seen[await _said(reading)] += 1
            writer.close()
        except OSError as error:
            result.seen[f"not connected ({error.strerror or type(error).__name__})"] += 1

    async def flood(result: Flood) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        count = min(wanted, hard - _KEPT_FREE)
        if count < wanted:
            result.note = f" (of the {wanted:,} wanted: this machine allows {hard:,} open files a process)"
        held = asyncio.Event()
        clients = []
        for number in range(count):
            clients.append(asyncio.create_task(one(result, held)))
            if number % 100 == 99:
                await asyncio.sleep(0.01)  # a listening socket's backlog is short
        await asyncio.sleep(seconds)
        held.set()
        await asyncio.gather(*clients)

    return flood


def large_bodies(server: Server, count: int) -> Callable[[Flood], Awaitable[None]]:
    """Bodies of one megabyte: a text too long, many texts, no JSON at all, JSON nested without end, and 3 MB."""
    million = 1_000_000
    bodies: dict[str, bytes] = {
        "1 MB of one text": json.dumps({"text": "路" * (million // 3)}, ensure_ascii=False).encode(),
        "1 MB that is no JSON": b"x" * million,
        "1 MB of brackets": b"[" * million,
        "1 MB of digits": b'{"text": ' + b"9" * million + b"}",
        "1 MB of a schema": json.dumps({"text": "a", "schema": {"enum": ["x" * 100] * (million // 104)}}).encode(),
        "3 MB": b'{"text": "' + b"x" * (3 * million) + b'"}',
    }

    async def one(result: Flood, name: str, body: bytes) -> None:
        outcome = await ask((server.host, server.port), server.key, body)
        result.seen[f"{name}: {outcome.kind} {outcome.value if outcome.kind in ('refused', 'lost') else ''}"] += 1
        if outcome.kind == "lost":
            result.others.append(outcome)

    async def flood(result: Flood) -> None:
        await asyncio.gather(*(one(result, name, body) for _ in range(count) for name, body in bodies.items()))

    return flood


async def _said(reading: asyncio.Task[Any]) -> str:
    """What a connection was told before it was closed."""
    if not reading.done():
        reading.cancel()
        return "left waiting"
    try:
        answer = reading.result()
    except OSError as error:
        return type(error).__name__
    if not answer:
        return "closed"
    try:
        return f"told {parsed(answer)[0]}"
    except ValueError:
        return "told something strange"
