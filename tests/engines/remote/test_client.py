"""Requests to a server that goes wrong in every way that servers do."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from copydesk.engines.remote.client import Client
from copydesk.engines.remote.patience import Patience
from copydesk.errors import EngineError, TextError
from engines.remote.odd_server import Asked, OddServer, Sent

QUICK = Patience(connect=2.0, request=1.0, total=3.0, attempts=4, first_wait=0.01, longest_wait=0.05)
Use = Callable[[Client], Any]


def ask(server: OddServer, use: Use, patience: Patience = QUICK, **options: Any) -> Any:
    """What `use` gives with a client of the server."""

    async def run() -> Any:
        client = Client(server.url, patience=patience, **options)
        try:
            return await use(client)
        finally:
            await client.close()

    return asyncio.run(run())


def post(client: Client) -> Any:
    return client.post("/v1/x", {"n": 1})


async def events(client: Client) -> list[Any]:
    return [event async for event in client.events("/v1/x", {"n": 1})]


def in_turn(*answers: Sent) -> Callable[[Asked], Sent]:
    """One answer after the other, the last for ever."""
    left = itertools.chain(answers[:-1], itertools.repeat(answers[-1]))
    return lambda asked: next(left)


def test_an_answer_and_what_was_asked() -> None:
    with OddServer(lambda asked: Sent({"text": "市"})) as server:
        assert ask(server, post, api_key="secret") == {"text": "市"}
    (asked,) = server.asked
    assert (asked.path, asked.body) == ("/v1/x", {"n": 1})
    assert asked.headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_asked_again_where_that_may_help(status: int) -> None:
    with OddServer(in_turn(Sent("busy", status), Sent("busy", status), Sent({"n": 2}))) as server:
        assert ask(server, post) == {"n": 2}
    assert len(server.asked) == 3


def test_the_server_says_how_long_to_wait() -> None:
    start = time.monotonic()
    with OddServer(in_turn(Sent("busy", 429, headers={"Retry-After": "0.3"}), Sent({}))) as server:
        assert ask(server, post) == {}
    assert time.monotonic() - start >= 0.3


def test_a_server_that_asks_to_wait_too_long_is_given_up() -> None:
    start = time.monotonic()
    with (
        OddServer(lambda asked: Sent("busy", 429, headers={"Retry-After": "60"})) as server,
        pytest.raises(EngineError, match="no more requests") as raised,
    ):
        ask(server, post)
    assert raised.value.code == "busy"
    assert time.monotonic() - start < 30.0


def test_it_is_given_up_in_the_end() -> None:
    with OddServer(lambda asked: Sent("busy", 503)) as server, pytest.raises(EngineError, match="503"):
        ask(server, post)
    assert len(server.asked) == QUICK.attempts


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_not_asked_again_where_that_cannot_help(status: int) -> None:
    with OddServer(lambda asked: Sent("no", status)) as server, pytest.raises(EngineError, match="no"):
        ask(server, post)
    assert len(server.asked) == 1


def test_a_dropped_connection_is_made_again() -> None:
    with OddServer(in_turn(Sent(None), Sent({"n": 3}))) as server:
        assert ask(server, post) == {"n": 3}
    assert len(server.asked) == 2


def test_a_server_that_always_drops_the_connection() -> None:
    with OddServer(lambda asked: Sent(None)) as server, pytest.raises(EngineError, match="broke off"):
        ask(server, post)
    assert len(server.asked) == QUICK.attempts


def test_nobody_there() -> None:
    with OddServer(lambda asked: Sent({})) as server:
        pass
    for use in (post, events, lambda client: client.get("/v1/models")):
        with pytest.raises(EngineError, match=r"Nobody answers at .* start the server"):
            ask(server, use)


def test_a_slow_server() -> None:
    wake = threading.Event()

    def slow(asked: Asked) -> Sent:
        wake.wait(10)
        return Sent({})

    patience = Patience(request=0.2, total=1.0)
    with OddServer(slow) as server:
        with pytest.raises(EngineError, match=r"did not answer within 0\.2 s") as raised:
            ask(server, post, patience)
        wake.set()
    assert raised.value.code == "timeout"
    assert len(server.asked) <= 1  # not again


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (Sent("<!DOCTYPE html><html></html>", kind="text/html"), "web page"),
        (Sent("<html></html>"), "web page"),
        (Sent("{broken"), "no JSON object: {broken"),
        (Sent("[1]"), "no JSON object"),
        (Sent({"error": {"message": "out of memory"}}), "failed: out of memory"),
        (Sent("", 302, headers={"Location": "http://elsewhere"}), "points elsewhere"),
    ],
)
def test_what_is_no_answer_is_told(sent: Sent, says: str) -> None:
    with OddServer(lambda asked: sent) as server:
        for use in (post, events):
            with pytest.raises(EngineError, match=says):
                ask(server, use)


def test_at_most_so_many_at_once() -> None:
    now, most, lock = 0, 0, threading.Lock()

    def counting(asked: Asked) -> Sent:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1
        return Sent({})

    async def many(client: Client) -> None:
        await asyncio.gather(*(client.post("/v1/x", {}) for _ in range(12)))

    with OddServer(counting) as server:
        ask(server, many, concurrency=3)
    assert most == 3


def stream(*pieces: str | None) -> Sent:
    return Sent(kind="text/event-stream", pieces=iter(pieces))


def test_events_as_they_come() -> None:
    line = json.dumps({"text": "a\u2028b"}, ensure_ascii=False)
    pieces = (": hello\r\n\r\n", f"data: {line[:5]}", f"{line[5:]}\r\n\r\n", 'data:{"n":2}\n\n', "data: [DONE]\n\n")
    with OddServer(lambda asked: stream(*pieces)) as server:
        assert ask(server, events) == [{"text": "a\u2028b"}, {"n": 2}]


def test_a_stream_that_never_began_is_begun_again() -> None:
    with OddServer(in_turn(Sent("busy", 503), Sent(None), stream('data: {"n":1}\n\n', "data: [DONE]\n\n"))) as server:
        assert ask(server, events) == [{"n": 1}]
    assert len(server.asked) == 3


def test_a_stream_cut_in_the_middle_is_not_begun_again() -> None:
    seen = []

    async def read(client: Client) -> None:
        async for event in client.events("/v1/x", {}):
            seen.append(event)

    with (
        OddServer(lambda asked: stream('data: {"n":1}\n\n', None)) as server,
        pytest.raises(EngineError, match="broke off"),
    ):
        ask(server, read)
    assert seen == [{"n": 1}]
    assert len(server.asked) == 1


def test_a_stream_of_which_a_piece_is_late() -> None:
    wake = threading.Event()

    def pieces() -> Iterator[str | None]:
        yield 'data: {"n":1}\n\n'
        wake.wait(10)
        yield None

    with OddServer(lambda asked: Sent(kind="text/event-stream", pieces=pieces())) as server:
        with pytest.raises(EngineError, match="broke off"):
            ask(server, events, Patience(request=0.2))
        wake.set()


@pytest.mark.parametrize(
    ("piece", "says"), [("data: {broken\n\n", "no JSON"), ('data: {"error": {"message": "boom"}}\n\n', "boom")]
)
def test_a_stream_of_nonsense(piece: str, says: str) -> None:
    with OddServer(lambda asked: stream(piece)) as server, pytest.raises(EngineError, match=says):
        ask(server, events)


def test_a_stream_that_is_none() -> None:
    with OddServer(lambda asked: Sent({"n": 1})) as server, pytest.raises(EngineError, match="was to stream"):
        ask(server, events)


def test_a_stream_that_is_refused() -> None:
    refused = Sent({"error": "maximum context length is 5"}, 400)
    with OddServer(lambda asked: refused) as server, pytest.raises(TextError, match="does not fit"):
        ask(server, events)


def endless() -> Iterator[str | None]:
    while True:
        yield 'data: {"n":1}\n\n'
        time.sleep(0.01)


def test_leaving_a_stream_closes_the_connection() -> None:
    @asynccontextmanager
    async def opened(client: Client) -> AsyncIterator[Any]:
        stream = client.events("/v1/x", {})
        yield stream
        await stream.aclose()

    async def first(client: Client) -> Any:
        async with opened(client) as stream:
            return await anext(stream)

    with OddServer(lambda asked: Sent(kind="text/event-stream", pieces=endless())) as server:
        assert ask(server, first) == {"n": 1}
        assert server.hung_up.wait(5)


def test_cancelling_closes_the_connection_and_frees_the_slot() -> None:
    async def cancel(client: Client) -> Any:
        work = asyncio.ensure_future(events(client))
        await asyncio.sleep(0.1)
        work.cancel()
        await asyncio.wait([work])
        assert work.cancelled()
        return await client.post("/v1/y", {})

    def answer(asked: Asked) -> Sent:
        return Sent({}) if asked.path == "/v1/y" else Sent(kind="text/event-stream", pieces=endless())

    with OddServer(answer) as server:
        assert ask(server, cancel, concurrency=1) == {}
        assert server.hung_up.wait(5)
