"""Bodies: sizes, times, types, and what is no JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import pytest

from copydesk.serving.body import HungUpError, read_json
from copydesk.serving.errors import ApiError
from copydesk.serving.settings import Limits
from serving.fakes import Server

pytestmark = pytest.mark.anyio
LIMITS = Limits(max_body_bytes=1000, body_seconds=0.05)


class Incoming:
    """A body in pieces; a float among them is a pause, None the client hanging up."""

    def __init__(self, *pieces: bytes | float | None) -> None:
        self.left = list(pieces)

    async def __call__(self) -> MutableMapping[str, Any]:
        piece = self.left.pop(0)
        if isinstance(piece, float):
            await asyncio.sleep(piece)
            piece = self.left.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(self.left)}


async def refusal(incoming: Incoming, *headers: tuple[bytes, bytes]) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await read_json(headers, incoming, LIMITS)
    return caught.value


async def test_a_body_in_pieces() -> None:
    assert await read_json([], Incoming(b'{"a": ', b"", b"1}"), LIMITS) == {"a": 1}


async def test_a_body_that_is_too_large_by_its_own_word_is_not_read() -> None:
    incoming = Incoming(b"x")
    error = await refusal(incoming, (b"content-length", b"1001"))
    assert (error.status, error.code, error.headers) == (413, "body_too_large", {"connection": "close"})
    assert incoming.left == [b"x"]


async def test_a_body_that_turns_out_too_large_is_read_no_further() -> None:
    incoming = Incoming(*[b"x" * 100] * 20)
    assert (await refusal(incoming)).status == 413
    assert len(incoming.left) == 9
    assert (await refusal(Incoming(b"x" * 1001))).status == 413


async def test_a_slow_body() -> None:
    error = await refusal(Incoming(b"{", 1.0, b"}"))
    assert (error.status, error.code) == (408, "slow_body")


async def test_who_hangs_up_midway() -> None:
    with pytest.raises(HungUpError):
        await read_json([], Incoming(b"{", None), LIMITS)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"{'a': 1}", b'{"a": NaN}', b'"\xff"', b'{"a": "\\ud800"}', b'{"a": 1} x', "{}".encode("utf-16")],
)
async def test_what_is_no_json(body: bytes) -> None:
    error = await refusal(Incoming(body))
    assert (error.status, error.code) == (400, "invalid_json")


async def test_nesting_bombs_are_refused_before_they_are_parsed() -> None:
    limits = Limits(max_json_nesting=10)
    deep = b"[" * 11 + b"]" * 11
    with pytest.raises(ApiError) as caught:
        await read_json([], Incoming(deep), limits)
    assert caught.value.code == "nested_too_deeply"
    assert await read_json([], Incoming(deep[1:-1]), limits)
    with pytest.raises(ApiError):
        await read_json([], Incoming(b"[" * 1_000_000), Limits())


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=UTF-8", True),
        (b'application/json; charset="utf-8"', True),
        (b"application/problem+json", True),
        (b"application/json; charset=gbk", False),
        (b"text/plain", False),
        (b"application/x-www-form-urlencoded", False),
        (b"multipart/form-data; boundary=x", False),
    ],
)
async def test_types(kind: bytes, taken: bool) -> None:
    if taken:
        assert await read_json([(b"content-type", kind)], Incoming(b"{}"), LIMITS) == {}
    else:
        assert (await refusal(Incoming(b"{}"), (b"content-type", kind))).status == 415


async def test_encodings() -> None:
    assert (await refusal(Incoming(b"{}"), (b"content-encoding", b"gzip"))).status == 415
    assert await read_json([(b"content-encoding", b"identity")], Incoming(b"{}"), LIMITS) == {}


async def test_through_the_application() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 100

    server = Server(limits=LIMITS)
    async with server.client() as client:
        large = await client.post("/v1/extract", content=chunks())
        odd = await client.post("/v1/extract", data={"text": "x"})
        array = await client.post("/v1/extract", json=["x"])
    assert (large.status_code, large.json()["error"]["code"]) == (413, "body_too_large")
    assert odd.status_code == 415
    assert (array.status_code, array.json()["error"]["param"]) == (400, None)
    assert server.backend.calls == []
