"""A request from body to answer: the model named, admission, deadlines, clients that hang up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest

from copydesk.serving.settings import Limits
from copydesk.types import Delta
from serving.fakes import KEY, USAGE, FakeBackend, FakeReplies, Server, events

pytestmark = pytest.mark.anyio
EXTRACT = {"text": "x"}


def endless() -> FakeReplies:
    return FakeReplies([Delta(content="x")] * 10_000, pace=0.005)


class Connection:
    """A client at the level of ASGI, which may hang up, stop reading, or be told to wait."""

    def __init__(self, server: Server, path: str, body: Any) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        self.gone = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()
        self._server = server
        self._body = [json.dumps(body).encode()]
        self._scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [(b"authorization", f"Bearer {KEY}".encode())],
            "client": ("127.0.0.1", 1),
        }

    async def run(self) -> None:
        await self._server.app(self._scope, self._receive, self._send)

    async def _receive(self) -> MutableMapping[str, Any]:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        await self.reading.wait()
        self.sent.append(message)


async def test_the_model_is_named_in_the_body_or_the_query() -> None:
    server = Server()
    for body, query in (({}, ""), ({"model": "other/model"}, ""), ({}, "?model=other%2Fmodel")):
        assert (await server.post(f"/v1/extract{query}", EXTRACT | body)).status_code == 200
    assert [model for model, _ in server.router.asked] == ["fake", "other/model", "other/model"]
    assert {caller for _, caller in server.router.asked} == {"tester"}


async def test_models_that_are_none_or_contradict() -> None:
    server = Server()
    missing = await server.post("/v1/extract", EXTRACT | {"model": "none"})
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "model_not_found")
    both = await server.post("/v1/extract?model=fake", EXTRACT | {"model": "other/model"})
    assert (both.status_code, both.json()["error"]["param"]) == (400, "model")
    assert server.gate.admitted == []


async def test_admission_holds_from_the_plan_to_the_last_byte() -> None:
    server = Server()
    response = await server.post("/v1/extract", {"text": "长沙市岳麓区"})
    assert server.gate.admitted == [("tester", "fake", 7)]
    assert server.gate.inside == 0
    assert server.gate.spent == [USAGE]
    assert response.headers["x-ratelimit-remaining-requests"] == "9"
    await server.chat(stream=True, max_tokens=100)
    assert server.gate.admitted[1] == ("tester", "fake", 101)
    assert server.gate.spent == [USAGE, USAGE]
    assert server.recorder.finished[1].outcome == "ok"


async def test_an_answer_that_takes_too_long_is_given_up() -> None:
    server = Server(FakeBackend(wait=30), limits=Limits(request_seconds=0.05))
    response = await server.post("/v1/extract", EXTRACT)
    assert (response.status_code, response.json()["error"]["code"]) == (504, "deadline")
    assert server.backend.cancelled == 1
    assert server.gate.inside == 0


async def test_a_stream_that_takes_too_long_ends_with_an_event() -> None:
    server = Server(FakeBackend(replies=endless), limits=Limits(request_seconds=0.05))
    response = await server.chat(stream=True)
    *_, told, end = events(response)
    assert (told["error"]["code"], end) == ("deadline", "[DONE]")
    assert server.backend.opened[0].cancelled
    assert server.recorder.finished[0].outcome == "deadline"


@pytest.mark.parametrize("stream", [False, True])
async def test_who_hangs_up_frees_the_work(stream: bool) -> None:
    server = Server(FakeBackend(replies=endless))
    connection = Connection(
        server, "/v1/chat/completions", {"stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
    )
    running = asyncio.ensure_future(connection.run())
    await asyncio.sleep(0.05)
    assert server.gate.inside == 1
    connection.gone.set()
    await asyncio.wait_for(running, 1)
    assert server.backend.opened[0].cancelled
    assert server.gate.inside == 0
    finished = server.recorder.finished[0]
    assert (finished.status, finished.outcome) == (499, "cancelled")


async def test_who_hangs_up_frees_an_extraction_too() -> None:
    server = Server(FakeBackend(wait=30))
    connection = Connection(server, "/v1/extract", {"texts": ["a", "b", "c"]})
    running = asyncio.ensure_future(connection.run())
    await asyncio.sleep(0.02)
    connection.gone.set()
    await asyncio.wait_for(running, 1)
    assert server.backend.cancelled == 3
    assert connection.sent == []


async def test_who_takes_nothing_of_a_stream_counts_as_gone() -> None:
    server = Server(FakeBackend(replies=endless), limits=Limits(write_seconds=0.05))
    connection = Connection(
        server, "/v1/chat/completions", {"stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    )
    running = asyncio.ensure_future(connection.run())
    await asyncio.sleep(0.03)
    connection.reading.clear()
    await asyncio.wait_for(running, 1)
    assert server.backend.opened[0].cancelled
    assert server.recorder.finished[0].outcome == "cancelled"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_that_stops_says_so(stream: bool) -> None:
    server = Server(FakeBackend(replies=endless))
    connection = Connection(
        server, "/v1/chat/completions", {"stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
    )
    running = asyncio.ensure_future(connection.run())
    await asyncio.sleep(0.03)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert connection.sent[0]["status"] == (200 if stream else 503)
    written = b"".join(message.get("body", b"") for message in connection.sent)
    assert b'"code":"stopping"' in written
    assert server.recorder.finished[0].outcome == "stopping"
    assert server.backend.opened[0].cancelled
