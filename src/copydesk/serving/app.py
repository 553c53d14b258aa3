"""The application: all routes behind the front.

Knows which routes there are; what they need is handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.routing import Router as Routes
from starlette.types import ASGIApp

from copydesk.serving.backend import Router
from copydesk.serving.endpoint import Endpoint
from copydesk.serving.events import Observer
from copydesk.serving.front import Front
from copydesk.serving.gate import Gate
from copydesk.serving.openapi import document
from copydesk.serving.routes import chat, completions, decisions, native
from copydesk.serving.routes.models import model_routes
from copydesk.serving.settings import Limits
from copydesk.serving.wire.chat import ChatBody
from copydesk.serving.wire.completion import CompletionBody
from copydesk.serving.wire.decision import DecisionBody
from copydesk.serving.wire.native import ClassifyBody, ExtractBody


def build_app(
    *,
    limits: Limits,
    router: Router,
    gate: Gate,
    observer: Observer,
    public: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """The ASGI application. `public` are the routes for everybody: the page, health and metrics."""
    posts: dict[str, Endpoint[Any]] = {
        "/v1/chat/completions": Endpoint(ChatBody, chat.plan, router, gate, limits),
        "/v1/completions": Endpoint(CompletionBody, completions.plan, router, gate, limits),
        "/v1/extract": Endpoint(ExtractBody, native.plan_extraction, router, gate, limits),
        "/v1/classify": Endpoint(ClassifyBody, native.plan_classification, router, gate, limits),
        "/v1/decisions": Endpoint(DecisionBody, decisions.plan, router, gate, limits),
    }
    routes: list[BaseRoute] = [Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()]
    routes += [*model_routes(router), _openapi(), *public]
    paths = [route.path for route in routes if isinstance(route, Route)]
    return Front(Routes(routes, redirect_slashes=False), paths, gate, observer)


def _openapi() -> Route:
    written = orjson.dumps(document())

    async def openapi(request: Request) -> Response:
        return Response(written, media_type="application/json")

    return Route("/openapi.json", openapi, methods=["GET"])
