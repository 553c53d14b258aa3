"""A server that serves the real page and gives whatever answers a test sets, over real HTTP on a free port."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from copydesk.serving.playground import page_routes

KEY = "sk-of-a-test"


@dataclass
class Stub:
    """What the server answers next, and what it was asked."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content: Any = field(default_factory=dict)
    """JSON, or a string that is sent as it is."""
    delay: float = 0.0
    """Seconds before it answers."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the calls, oldest first."""
    bodies: list[str] = field(default_factory=list)
    """The same as they came."""
    hung_up: int = 0
    """Calls whose client went away before the answer."""

    def answers(self, content: Any, status: int = 200, **headers: str) -> None:
        """Set what comes next."""
        self.content, self.status = content, status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def extracted(fields: dict[str, dict[str, Any]], **others: Any) -> dict[str, Any]:
    """An answer whose fields are given as in its JSON, each with its `value` beside."""
    usage = {"prompt_tokens": 101, "cached_tokens": 62, "completion_tokens": 65}
    answer = {
        "value": {name: each["value"] for name, each in fields.items()},
        "fields": {
            name: {"match": "exact", "confidence": 0.99} | {key: each[key] for key in each if key != "value"}
            for name, each in fields.items()
        },
        "confidence": 0.97,
        "verified": True,
        "draft": "rules",
        "accepted": 0.9375,
        "passes": 2,
        "model": "copydesk-nano",
        "engine": "openvino",
        "usage": usage,
        "ms": 38.1,
    }
    return answer | others


def classified(labels: dict[str, float], **others: Any) -> dict[str, Any]:
    """An answer to a classification."""
    answer = extracted({}, draft=None, accepted=None, passes=1)
    del answer["fields"]
    return answer | {"value": max(labels, key=lambda label: labels[label]), "labels": labels} | others


@contextmanager
def serving() -> Iterator[Stub]:
    """A running server."""
    stub = Stub()

    async def answer(request: Request) -> Response:
        body = await request.body()
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _json({"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}, 401, {})
        stub.bodies.append(body.decode())
        stub.asked.append(json.loads(body))
        until = time.monotonic() + stub.delay
        while time.monotonic() < until:
            if await request.is_disconnected():
                stub.hung_up += 1
                return Response()
            await asyncio.sleep(0.02)
        return _json(stub.content, stub.status, stub.headers)

    async def models(request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _json({"error": {"message": "Incorrect API key provided."}}, 401, {})
        return _json({"object": "list", "data": [{"id": "copydesk-nano"}, {"id": "other"}]}, 200, {})

    routes = [
        *page_routes(),
        Route("/v1/models", models),
        Route("/v1/extract", answer, methods=["POST"]),
        Route("/v1/classify", answer, methods=["POST"]),
    ]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    stub.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    try:
        yield stub
    finally:
        server.should_exit = True
        thread.join()


def _json(content: Any, status: int, headers: dict[str, str]) -> Response:
    text = content if isinstance(content, str) else json.dumps(content)
    return Response(text, status, headers, media_type="application/json")
