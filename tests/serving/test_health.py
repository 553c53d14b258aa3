"""Health: up is not ready; ready is proven; what falls ill, stops or fills up turns red."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette

from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.drain import Drain
from copydesk.serving.health import Health
from copydesk.serving.record import JudgingSettings
from copydesk.serving.replica import HealthSettings, Replica
from copydesk.serving.routing import Route, RouteSettings
from copydesk.serving.version import Version
from serving.fake_model import FakeModel, Marks, News

pytestmark = pytest.mark.anyio
QUICK = HealthSettings(every_seconds=60, cache_seconds=0.0, deadline_seconds=0.1, frozen_seconds=5)


@asynccontextmanager
async def server() -> AsyncIterator[tuple[httpx.AsyncClient, list[FakeModel], list[Version], Drain]]:
    """One name with two versions."""
    models, versions, drain = [FakeModel(), FakeModel()], [], Drain()
    for label, model in zip("ab", models, strict=True):
        replica = Replica(f"name/{label}/0", model.load, News(), QUICK, BreakerSettings())
        await replica.start(must=True)
        versions.append(Version("name", label, 1, [replica], Marks(), JudgingSettings(), BreakerSettings()))
    health = Health([Route("name", versions, RouteSettings())], drain)
    transport = httpx.ASGITransport(Starlette(routes=health.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        yield client, models, versions, drain
    for version in versions:
        await version.replicas[0].close()


async def ready(client: httpx.AsyncClient) -> tuple[int, dict[str, object]]:
    response = await client.get("/health/ready")
    return response.status_code, response.json()


async def test_well_it_is_up_and_ready_and_shows_what_proves_it() -> None:
    async with server() as (client, models, _, _):
        up = await client.get("/health")
        assert (up.status_code, up.json()) == (200, {"ok": True, "status": "up"})
        before = models[0].canaries
        status, found = await ready(client)
        assert (status, found["ok"], found["status"]) == (200, True, "ready")
        assert models[0].canaries == before + 1
        replica = found["models"]["name"]["versions"]["a"]["replicas"][0]  # type: ignore[index]
        assert replica["why"] is None
        assert replica["canary_ms"] >= 0


async def test_a_frozen_model_turns_it_red_while_the_process_is_up() -> None:
    async with server() as (client, models, _, _):
        models[0].mood = "frozen"
        status, found = await ready(client)
        assert status == 200  # the other version answers
        assert "no answer to a canary" in json.dumps(found)
        models[1].mood = "frozen"
        status, found = await ready(client)
        assert (status, found["status"]) == (503, "not ready")
        assert (await client.get("/health")).status_code == 200


async def test_a_version_that_was_taken_out_does_not_count() -> None:
    async with server() as (client, _, versions, _):
        for version in versions:
            version.breaker.open("50% of its calls failed")
        status, found = await ready(client)
        assert status == 503
        assert "50% of its calls failed" in json.dumps(found)


async def test_told_to_stop_it_is_red_at_once_and_asks_no_canary() -> None:
    async with server() as (client, models, _, drain):
        before = models[0].canaries
        drain.begin()
        assert await ready(client) == (503, {"ok": False, "status": "stopping"})
        assert models[0].canaries == before
        assert (await client.get("/health")).status_code == 200


async def test_filled_with_frozen_models_it_is_no_longer_up() -> None:
    async with server() as (client, _, versions, _):
        versions[0].replicas[0].stuck = QUICK.most_stuck + 1
        response = await client.get("/health")
        assert (response.status_code, response.json()["status"]) == (503, "stuck")
        versions[0].replicas[0].stuck = 0


async def test_many_probes_are_one_canary() -> None:
    async with server() as (client, models, _, _):
        before = models[0].canaries
        for status, _ in await asyncio.gather(*(ready(client) for _ in range(20))):
            assert status == 200
        assert models[0].canaries - before <= 2
