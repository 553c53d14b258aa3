"""What every request passes: id, key, account, errors in one shape."""

from __future__ import annotations

import re

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from copydesk.serving.errors import ApiError
from serving.fakes import Server

pytestmark = pytest.mark.anyio


async def _open(request: Request) -> Response:
    return PlainTextResponse("open")


async def _broken(request: Request) -> Response:
    raise ValueError("secret words")


PUBLIC = [Route(path, _open) for path in ("/", "/health", "/health/ready", "/metrics", "/page/a.js")]


@pytest.mark.parametrize("path", ["/", "/health", "/health/ready", "/metrics", "/page/a.js"])
async def test_what_is_for_everybody(path: str) -> None:
    async with Server(public=PUBLIC).client(key=None) as client:
        assert (await client.get(path)).text == "open"


@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1/chat/completions", "/openapi.json", "/nothing", "/healthy", "/metrics/x", "/v1/extract"]
)
@pytest.mark.parametrize("key", [None, "sk-wrong"])
async def test_everything_else_needs_a_key(path: str, key: str | None) -> None:
    server = Server(public=PUBLIC)
    async with server.client(key) as client:
        response = await client.post(path, json={"text": "x"})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["type"] == "authentication_error"
    assert server.backend.calls == []
    assert server.recorder.finished[0].outcome == "invalid_api_key"


async def test_what_is_not_there_and_methods_that_are_not_taken() -> None:
    server = Server()
    async with server.client() as client:
        missing = await client.get("/nothing")
        wrong = await client.get("/v1/extract")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    assert [finished.route for finished in server.recorder.finished] == ["unmatched", "/v1/extract"]
    assert server.recorder.started == ["unmatched", "/v1/extract"]


async def test_every_answer_has_an_id_the_caller_s_own_if_it_is_a_plain_word() -> None:
    server = Server()
    async with server.client() as client:
        own = await client.get("/v1/models", headers={"x-request-id": "job-7/a.b"})
        odd = await client.get("/v1/models", headers={"x-request-id": 'a"b c'})
        long = await client.get("/nothing", headers={"x-request-id": "x" * 200})
    assert own.headers["x-request-id"] == "job-7/a.b"
    assert re.fullmatch("[0-9a-f]{24}", odd.headers["x-request-id"])
    assert re.fullmatch("[0-9a-f]{24}", long.headers["x-request-id"])
    assert [finished.request for finished in server.recorder.finished] == [
        response.headers["x-request-id"] for response in (own, odd, long)
    ]


async def test_the_account_of_a_request() -> None:
    server = Server()
    await server.post("/v1/extract", {"text": "x"})
    finished = server.recorder.finished[0]
    assert (finished.method, finished.route, finished.status, finished.outcome) == ("POST", "/v1/extract", 200, "ok")
    assert (finished.model, finished.caller, finished.client) == ("fake", "tester", "127.0.0.1")
    assert (finished.answers, finished.passes, finished.accepted, finished.source) == (1, 2, 0.5, "rules")
    assert finished.seconds > 0
    assert finished.first_token_seconds is None
    await server.chat(stream=True)
    first = server.recorder.finished[1].first_token_seconds
    assert first is not None
    assert 0 < first <= server.recorder.finished[1].seconds


async def test_retry_after_is_whole_seconds_rounded_up() -> None:
    server = Server()
    server.gate.refusal = ApiError(429, "Slow down.", code="rate_limit_exceeded", retry_after=1.2, headers={"X-A": "b"})
    response = await server.chat()
    assert (response.status_code, response.headers["retry-after"], response.headers["x-a"]) == (429, "2", "b")
    assert response.json()["error"]["type"] == "rate_limit_error"
    assert server.recorder.finished[0].outcome == "rate_limit_exceeded"


async def test_a_fault_says_nothing_of_its_cause_anywhere(caplog: pytest.LogCaptureFixture) -> None:
    server = Server(public=[Route("/health", _broken)])
    async with server.client(key=None) as client:
        response = await client.get("/health")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal_error"
    assert "test_front.py" in caplog.text
    assert "secret" not in caplog.text + response.text
