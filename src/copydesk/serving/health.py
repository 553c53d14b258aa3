"""Whether the process is up, and whether its models answer: proven by canaries, not by a flag.

Satisfies probes of Kubernetes, Docker and load balancers. Says nothing of machines or texts: anybody may ask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path

from copydesk.serving.drain import Drain
from copydesk.serving.replica import Replica
from copydesk.serving.routing import Route
from copydesk.serving.version import Version
from copydesk.types import Json


class Health:
    """Belongs to one event loop."""

    def __init__(self, routes: Iterable[Route], drain: Drain) -> None:
        self._routes = list(routes)
        self._drain = drain

    def live(self) -> Json:
        """The process is up; `ok` is False once frozen models have filled it and only a new one helps."""
        versions = [version for route in self._routes for version in route.versions]
        stuck = any(replica.hopeless for version in versions for replica in version.replicas)
        return {"ok": not stuck, "status": "stuck" if stuck else "up"}

    async def ready(self) -> Json:
        """Whether new requests are welcome: `ok` if every name has a version that proves to answer."""
        if self._drain.draining:
            return {"ok": False, "status": "stopping"}
        names = await asyncio.gather(*(self._name(route) for route in self._routes))
        models = {route.name: name for route, name in zip(self._routes, names, strict=True)}
        ok = all(name["ok"] for name in names) and not self._drain.draining
        return {"ok": ok, "status": "ready" if ok else "not ready", "models": models}

    def routes(self) -> list[Path]:
        """`GET /health` and `GET /health/ready`, with 503 where `ok` is False."""

        async def live(request: Request) -> Response:
            return _answer(self.live())

        async def ready(request: Request) -> Response:
            return _answer(await self.ready())

        return [Path("/health", live, methods=["GET"]), Path("/health/ready", ready, methods=["GET"])]

    async def _name(self, route: Route) -> Json:
        versions = await asyncio.gather(*(self._version(version) for version in route.versions))
        return {
            "ok": any(version["ok"] for version in versions),
            "versions": dict(zip((version.label for version in route.versions), versions, strict=True)),
        }

    async def _version(self, version: Version) -> Json:
        replicas = await asyncio.gather(*(self._replica(replica) for replica in version.replicas))
        in_service = version.breaker.state == "closed"
        return {
            "ok": in_service and any(replica["ok"] for replica in replicas),
            "why": None if in_service else version.breaker.why,
            "replicas": replicas,
        }

    async def _replica(self, replica: Replica) -> Json:
        fault = await replica.prove()
        proof = replica.proof
        return {
            "ok": fault is None,
            "why": fault,
            "canary_ms": None if proof is None else round(proof.seconds * 1e3, 1),
            "proved_seconds_ago": None if proof is None else round(time.monotonic() - proof.at, 1),
        }


def _answer(found: Json) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(orjson.dumps(found), 200 if found["ok"] else 503, headers, media_type="application/json")
