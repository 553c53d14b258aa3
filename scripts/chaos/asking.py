"""One request on a connection of its own, and what came of it. Plain sockets: nothing is retried or hidden."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any

PATIENCE = 150.0
"""Seconds after which a request counts as never answered; more than the server allows itself."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client saw."""

    kind: str
    """`verified`, `rules`, `refused` (a proper error), or `lost` (no answer, or none that makes sense)."""
    value: Any
    """The answer's value; of what was refused or lost, why."""
    at: float
    """`time.monotonic()` of its end."""
    seconds: float
    status: int = 0
    wait: float = 0.0
    """What `Retry-After` asks for, in seconds."""
    confidence: float | None = None


async def ask(address: tuple[str, int], key: str, body: bytes, path: str = "/v1/extract") -> Outcome:
    """POST a body."""
    started = time.monotonic()

    def outcome(kind: str, value: Any, status: int = 0, wait: float = 0.0, confidence: float | None = None) -> Outcome:
        now = time.monotonic()
        return Outcome(kind, value, now, now - started, status, wait, confidence)

    try:
        async with asyncio.timeout(PATIENCE):
            status, headers, answer = await _exchange(address, key, body, path)
    except TimeoutError:
        return outcome("lost", "timeout")
    except (OSError, EOFError, ValueError) as error:
        return outcome("lost", repr(error))
    try:
        found = json.loads(answer)
        if status == 200:
            if found["verified"]:
                return outcome("verified", found["value"], status, confidence=found.get("confidence"))
            sourced = headers.get("x-copydesk-source") == found["draft"]
            return outcome("rules" if sourced else "lost", found["value"], status)
        message = found["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return outcome("lost", answer[:200], status)
    wait = headers.get("retry-after")
    if not isinstance(message, str) or (status in (429, 503) and wait is None):
        return outcome("lost", answer[:200], status)
    return outcome("refused", f"{status} {found['error'].get('code')}", status, float(wait or 0))


async def _exchange(address: tuple[str, int], key: str, body: bytes, path: str) -> tuple[int, dict[str, str], bytes]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {address[0]}\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        with contextlib.suppress(ConnectionError):  # it may have answered without reading all; that is read below
            await writer.drain()
        return parsed(await reader.read())
    finally:
        writer.close()


def parsed(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in lower case, and body. Errors: `ValueError` for what is no whole answer."""
    head, gap, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if not gap or not first.startswith("HTTP/1.1 "):
        raise ValueError(f"no answer: {answer[:80]!r}")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if len(body) != int(headers.get("content-length", len(body))):
        raise ValueError(f"half an answer: {len(body)} bytes")
    return int(first.split()[1]), headers, body
