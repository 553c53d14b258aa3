"""Engines in processes of their own: they are loaded there, served from there, and end with whoever started them."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.engines.sharing.client import EngineClient
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ProcessHost
from copydesk.errors import CopydeskError, EngineError, ModelError
from fake_engine import hashed
from other_process import broken, dying, not_found, seeded

from .test_server import until


def test_two_processes_serve_an_engine_each() -> None:
    hosts = [ProcessHost(partial(seeded, 50, seed), 2) for seed in (1, 2)]
    try:
        for host, seed in zip(hosts, (1, 2), strict=True):
            assert host.facts() == host.facts() == Facts.of(seeded(50, seed))
            for connection in host.connections:
                client = EngineClient(connection, host.facts())
                [[scores]] = client.run([Read(client.open(), (1, 2), (Wanted(1),))])
                assert scores.argmax == hashed(50, seed)([1, 2]).argmax()
    finally:
        for host in hosts:
            host.close()
    with pytest.raises(EngineError, match="has ended"):
        client.run([Read(client.open(), (1,))])


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (not_found, ModelError, "^no model here$"),
        (broken, EngineError, "cannot be loaded: RuntimeError"),
        (dying, EngineError, "ended while loading"),
    ],
)
def test_an_engine_that_does_not_load(load: partial[Engine], error: type[CopydeskError], message: str) -> None:
    host = ProcessHost(load, 1)
    with pytest.raises(error, match=message):
        host.facts()
    host.close()


_ABANDONS = """
import os, sys
sys.path[:] = {path!r}
from functools import partial
from copydesk.engines.sharing.hosts import ProcessHost
from other_process import seeded
host = ProcessHost(partial(seeded, 50, 1), 1)
host.facts()
print(host._child._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_it_ends_with_who_started_it() -> None:
    parent = subprocess.run([sys.executable, "-c", _ABANDONS.format(path=sys.path)], capture_output=True, text=True)
    until(lambda: not _runs(int(parent.stdout)))


def _runs(process: int) -> bool:
    """Whether a process does anything; one that ended may still be listed."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
