"""Connections over real sockets: what trickles, what is no HTTP, what nobody takes, and too many at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from copydesk.serving.connection import protocol_for
from copydesk.serving.lingering import LingeringTransport
from copydesk.serving.server import bound_socket
from copydesk.serving.settings import Limits
from copydesk.types import Delta
from serving.fakes import KEY, FakeBackend, FakeReplies, Server

pytestmark = pytest.mark.anyio
HEAD = f"POST /v1/extract HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n"


@asynccontextmanager
async def listening(server: Server) -> AsyncIterator[tuple[str, int]]:
    """The server's application on a real port."""
    listener = bound_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        server.app,
        http=protocol_for(server.limits),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=max(1, round(server.limits.idle_seconds)),
        h11_max_incomplete_event_size=server.limits.max_header_bytes,
    )
    running = uvicorn.Server(config)
    serving = asyncio.ensure_future(running._serve(sockets=[listener]))
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield listener.getsockname()
    finally:
        running.should_exit = running.force_exit = True
        await serving
        listener.close()


class Client:
    """A client that writes what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, address: tuple[str, int]) -> Client:
        return cls(*await asyncio.open_connection(*address))

    async def say(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)
        await self.writer.drain()

    async def answer(self) -> tuple[int, Any]:
        """Status and JSON body of the next answer."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 3)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(length))

    async def rest(self) -> bytes:
        """Whatever comes until the connection is closed."""
        try:
            return await asyncio.wait_for(self.reader.read(), 3)
        except ConnectionResetError:
            return b""


def request(body: Any) -> str:
    written = json.dumps(body)
    return f"{HEAD}Content-Length: {len(written)}\r\n\r\n{written}"


async def test_requests_follow_one_another_also_pipelined() -> None:
    async with listening(Server()) as address:
        client = await Client.connect(address)
        for _ in range(2):
            await client.say(request({"text": "x"}))
            assert (await client.answer())[0] == 200
        await client.say(request({"text": "x"}) + request({"text": "y"}))
        assert [(await client.answer())[1]["value"]["city"] for _ in range(2)] == ["x", "y"]


async def test_an_answer_goes_out_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []

    class Recorded(LingeringTransport):
        def __init__(self, transport: asyncio.Transport, *more: Any) -> None:
            write = transport.write
            monkeypatch.setattr(transport, "write", lambda data: (pieces.append(bytes(data)), write(data)))
            super().__init__(transport, *more)

    monkeypatch.setattr("copydesk.serving.connection.LingeringTransport", Recorded)
    async with listening(Server()) as address:
        client = await Client.connect(address)
        for _ in range(2):
            await client.say(request({"text": "x"}))
            assert (await client.answer())[0] == 200
    sent = [piece for piece in pieces if piece]
    assert len(sent) == 2
    assert all(piece.startswith(b"HTTP/1.1 200") and piece.endswith(b"}") for piece in sent)


async def test_headers_that_do_not_come() -> None:
    async with listening(Server(limits=Limits(header_seconds=0.1))) as address:
        silent = await Client.connect(address)
        slow = await Client.connect(address)
        await slow.say("POST /v1/extract HTTP/1.1\r\nHost:")
        status, body = await slow.answer()
        assert (status, body["error"]["code"]) == (408, "slow_headers")
        assert await slow.rest() == b""
        assert await silent.rest() == b""


async def test_headers_that_trickle_get_no_more_time() -> None:
    async with listening(Server(limits=Limits(header_seconds=0.3))) as address:
        client = await Client.connect(address)
        sending = asyncio.ensure_future(_trickle(client, HEAD, 0.02))
        status, _ = await client.answer()
        sending.cancel()
        assert status == 408


async def test_the_next_request_s_headers_have_the_same_time() -> None:
    async with listening(Server(limits=Limits(header_seconds=0.2))) as address:
        client = await Client.connect(address)
        await client.say(request({"text": "x"}))
        assert (await client.answer())[0] == 200
        await asyncio.sleep(0.3)  # idle is not slow
        await client.say(request({"text": "x"}))
        assert (await client.answer())[0] == 200
        await client.say("POST")
        assert (await client.answer())[0] == 408


async def test_a_body_that_trickles() -> None:
    server = Server(limits=Limits(body_seconds=0.2))
    async with listening(server) as address:
        client = await Client.connect(address)
        await client.say(f"{HEAD}Content-Length: 1000\r\n\r\n")
        sending = asyncio.ensure_future(_trickle(client, " " * 900, 0.05))
        status, body = await client.answer()
        sending.cancel()
        assert (status, body["error"]["code"]) == (408, "slow_body")
        assert await client.rest() == b""


async def test_a_body_has_time_of_its_own() -> None:
    async with listening(Server(limits=Limits(header_seconds=0.2, body_seconds=3))) as address:
        client = await Client.connect(address)
        for _ in range(2):
            body = json.dumps({"text": "x"})
            await client.say(f"{HEAD}Content-Length: {len(body)}\r\n\r\n{body[:5]}")
            await asyncio.sleep(0.4)
            await client.say(body[5:])
            assert (await client.answer())[0] == 200


async def test_an_idle_connection_is_closed() -> None:
    async with listening(Server(limits=Limits(idle_seconds=1))) as address:
        client = await Client.connect(address)
        await client.say(request({"text": "x"}))
        await client.answer()
        assert await client.rest() == b""


async def test_what_is_no_http() -> None:
    async with listening(Server()) as address:
        for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00", b"HELLO\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"):
            client = await Client.connect(address)
            await client.say(nonsense + b"\r\n\r\n")
            status, body = await client.answer()
            assert (status, body["error"]["code"]) == (400, "invalid_http")


async def test_headers_that_are_too_long() -> None:
    async with listening(Server(limits=Limits(max_header_bytes=2000))) as address:
        client = await Client.connect(address)
        await client.say(f"GET / HTTP/1.1\r\nHost: x\r\nX-Long: {'x' * 5000}")
        status, body = await client.answer()
        assert (status, body["error"]["code"]) == (431, "headers_too_large")


async def test_half_open_connections_make_room_for_others() -> None:
    async with listening(Server(limits=Limits(max_connections=5))) as address:
        half_open = [await Client.connect(address) for _ in range(20)]
        for client in half_open[-5:]:
            await client.say("POST /")
        client = await Client.connect(address)
        await client.say(request({"text": "x"}))
        assert (await client.answer())[0] == 200
        assert await half_open[0].rest() == b""


async def test_busy_connections_do_not() -> None:
    server = Server(FakeBackend(wait=0.5), limits=Limits(max_connections=2))
    async with listening(server) as address:
        busy = [await Client.connect(address) for _ in range(2)]
        for client in busy:
            await client.say(request({"text": "x"}))
        await asyncio.sleep(0.1)
        status, body = await (await Client.connect(address)).answer()
        assert (status, body["error"]["code"]) == (503, "saturated")
        assert [(await client.answer())[0] for client in busy] == [200, 200]


async def test_who_hangs_up_is_noticed_at_once() -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([Delta(content="x")] * 10_000, pace=0.005)))
    async with listening(server) as address:
        client = await Client.connect(address)
        body = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
        await client.say(
            f"{HEAD.replace('/v1/extract', '/v1/chat/completions')}Content-Length: {len(body)}\r\n\r\n{body}"
        )
        await asyncio.sleep(0.1)
        client.writer.close()
        async with asyncio.timeout(1):
            while not server.backend.opened[0].cancelled:
                await asyncio.sleep(0.01)
        assert server.recorder.finished[0].outcome == "cancelled"


async def test_an_answer_that_nobody_takes_is_given_up() -> None:
    large = FakeReplies([Delta(content="x" * 100_000)] * 500)
    server = Server(FakeBackend(replies=lambda: large), limits=Limits(write_seconds=0.2))
    async with listening(server) as address:
        client = await Client.connect(address)
        body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "stream": True})
        await client.say(
            f"{HEAD.replace('/v1/extract', '/v1/chat/completions')}Content-Length: {len(body)}\r\n\r\n{body}"
        )
        async with asyncio.timeout(3):
            while not server.recorder.finished:
                await asyncio.sleep(0.02)
        assert server.recorder.finished[0].outcome == "cancelled"
        assert large.cancelled


async def test_a_large_body_is_told_why_and_not_cut_off() -> None:
    async with listening(Server(limits=Limits(max_body_bytes=1000))) as address:
        client = await Client.connect(address)
        await client.say(f"{HEAD}Content-Length: 3000000\r\n\r\n")
        await client.say(b" " * 3_000_000)
        status, body = await client.answer()
        assert (status, body["error"]["code"]) == (413, "body_too_large")


async def test_who_asks_first_need_not_send_a_large_body() -> None:
    async with listening(Server(limits=Limits(max_body_bytes=1000))) as address:
        client = await Client.connect(address)
        await client.say(f"{HEAD}Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n")
        assert (await client.answer())[0] == 413
        assert await client.rest() == b""


async def test_a_wrong_key_is_told_before_the_body_is_read() -> None:
    async with listening(Server()) as address:
        client = await Client.connect(address)
        await client.say(f"{HEAD.replace(KEY, 'sk-wrong')}Content-Length: 100\r\n\r\n")
        assert (await client.answer())[0] == 401
        await client.say(" " * 100 + request({"text": "x"}))
        assert (await client.answer())[0] == 200


async def _trickle(client: Client, text: str, pause: float) -> None:
    for character in text:
        await client.say(character)
        await asyncio.sleep(pause)
