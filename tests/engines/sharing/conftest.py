"""Servers on made-up engines, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from copydesk.engines.protocol import Engine
from copydesk.engines.sharing.client import EngineClient
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ThreadHost

Serve = Callable[..., tuple[ThreadHost, list[EngineClient]]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves an engine to so many clients; all is closed at the end."""
    hosts: list[ThreadHost] = []

    def make(engine: Engine, clients: int, tokens_per_call: int = 1000) -> tuple[ThreadHost, list[EngineClient]]:
        host = ThreadHost(engine, clients, tokens_per_call=tokens_per_call)
        hosts.append(host)
        return host, [EngineClient(connection, Facts.of(engine)) for connection in host.connections]

    yield make
    for host in hosts:
        host.close()
