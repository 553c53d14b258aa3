"""`GET /v1/models` and `GET /v1/models/{model}`: the names that the caller may give as `model`."""

from __future__ import annotations

import time

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from copydesk.serving.backend import Router
from copydesk.serving.exchange import Exchange
from copydesk.serving.front import EXCHANGE
from copydesk.serving.naming import unknown_model
from copydesk.types import Json


def model_routes(router: Router) -> list[Route]:
    """The two routes."""
    since = int(time.time())

    def card(name: str) -> Json:
        return {"id": name, "object": "model", "created": since, "owned_by": "copydesk"}

    def allowed(request: Request) -> list[str]:
        exchange: Exchange = request.scope[EXCHANGE]
        return [name for name in router.names if exchange.caller is None or exchange.caller.may_use(name)]

    async def listed(request: Request) -> Response:
        return _json({"object": "list", "data": [card(name) for name in allowed(request)]})

    async def one(request: Request) -> Response:
        name = request.path_params["model"]
        if name not in allowed(request):
            raise unknown_model(name)
        return _json(card(name))

    return [
        Route("/v1/models", listed, methods=["GET"]),
        Route("/v1/models/{model:path}", one, methods=["GET"]),  # names of the hub hold a slash
    ]


def _json(value: Json) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")
