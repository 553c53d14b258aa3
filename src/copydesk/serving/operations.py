"""What a configuration comes to: models loaded and watched, routes over them, keys, quotas and queues before them.

Knows the parts; each of them is its own module. Knows nothing of sockets and processes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path

from copydesk.engines.choose import choose, is_whole
from copydesk.engines.cores import available_cores
from copydesk.engines.options import TAKEN
from copydesk.loading import load
from copydesk.models.resolve import resolve
from copydesk.serving.config import Config, NameSettings, VersionSettings
from copydesk.serving.drain import Drain
from copydesk.serving.entrance import Entrance
from copydesk.serving.health import Health
from copydesk.serving.keys import KeyFile, Keyring, usual_file
from copydesk.serving.life import Loaded
from copydesk.serving.metrics import Metrics
from copydesk.serving.model_backend import ModelBackend
from copydesk.serving.quotas import Quotas
from copydesk.serving.replica import Replica
from copydesk.serving.routing import ModelRouter, Route
from copydesk.serving.version import Version

_AT_ONCE = 1024
Load = Callable[[str, VersionSettings, str | None, int | None], Loaded]
"""Loads what answers for a name: its version's model, at an address if one is given, with so many threads."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything around the routes, as they take it."""

    router: ModelRouter
    gate: Entrance
    metrics: Metrics
    health: Health

    def public_routes(self) -> list[Path]:
        """`/health`, `/health/ready` and `/metrics`, for everybody."""

        async def metrics(request: Request) -> Response:
            body, content_type = await asyncio.to_thread(self.metrics.expose, request.headers.get("accept", ""))
            return Response(body, headers={"Content-Type": content_type})

        return [*self.health.routes(), Path("/metrics", metrics, methods=["GET"])]


def keyring(config: Config) -> Keyring:
    """The keys that a server takes. Errors: `UsageError` for a key file that is none."""
    return Keyring(config.keys, KeyFile(config.keys_file or usual_file()))


@asynccontextmanager
async def operations(
    config: Config, keys: Keyring, drain: Drain, load_version: Load | None = None
) -> AsyncIterator[Operations]:
    """Models loaded and all that is around them, until the context ends.

    Errors: `CopydeskError` for a model in this process that cannot be loaded. Servers elsewhere are waited for while
    others answer already.
    """
    metrics = Metrics()
    make = partial(_replica, config, metrics, load_version or load_model)
    async with AsyncExitStack() as stack:
        routes = [Route(name.name, _versions(config, metrics, name, make), name.route) for name in config.names]
        for route, name in zip(routes, config.names, strict=True):
            for version, told in zip(route.versions, name.versions, strict=True):
                await _start(version.replicas, stack, must=not told.urls)
        quotas = Quotas(config.quotas, metrics.quota_storage)
        entrance = Entrance(keys, quotas, config.queue, metrics.queue)
        stack.push_async_callback(entrance.close)
        yield Operations(ModelRouter(routes), entrance, metrics, Health(routes, drain))


def load_model(name: str, version: VersionSettings, url: str | None, threads: int | None) -> Loaded:
    """The model of a version, as a back end for `name`. Errors: as `copydesk.load`."""
    options = dict(version.options)
    if url is not None:
        # A server that is away is not waited for: others are asked. How much at once is the queue's business.
        options = {"attempts": 1, "concurrency": _AT_ONCE} | options
        if version.api_key_env:
            options["api_key"] = os.environ[version.api_key_env]
    engine = url or version.engine
    if threads is not None and not is_whole(engine):
        chosen = choose(resolve(version.model)) if engine == "auto" else engine
        if "threads" in TAKEN.get(chosen, ()):
            options.setdefault("threads", threads)
    model = load(version.model, engine=engine, draft=version.draft, learn=version.learn, **options)
    return Loaded(ModelBackend(name, model), model.close)


def _versions(
    config: Config,
    metrics: Metrics,
    name: NameSettings,
    make: Callable[[NameSettings, VersionSettings, int, str | None], Replica],
) -> list[Version]:
    return [
        Version(
            name.name,
            version.name,
            version.weight,
            [make(name, version, number, url) for number, url in enumerate(version.urls or (None,))],
            metrics.version(name.name, version.name),
            config.judging,
            config.breaker,
        )
        for version in name.versions
    ]


def _replica(
    config: Config,
    metrics: Metrics,
    load_version: Load,
    name: NameSettings,
    version: VersionSettings,
    number: int,
    url: str | None,
) -> Replica:
    threads = max(1, available_cores() // config.workers) if config.workers > 1 else None
    return Replica(
        f"{name.name}/{version.name}/{url or number}",
        partial(load_version, name.name, version, url, threads),
        metrics.replica(name.name, version.name, str(number)),
        config.health,
        config.breaker,
    )


async def _start(replicas: Sequence[Replica], stack: AsyncExitStack, *, must: bool) -> None:
    for replica in replicas:
        stack.push_async_callback(replica.close)
    await asyncio.gather(*(replica.start(must=must) for replica in replicas))
