"""What tests have other processes do: importable there by name."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from copydesk.engines.protocol import Engine
from copydesk.errors import ModelError
from fake_engine import FakeEngine, hashed


def seeded(vocab_size: int, seed: int) -> Engine:
    """An engine with hashed logits."""
    return FakeEngine(vocab_size, hashed(vocab_size, seed))


def not_found() -> Engine:
    """A model that is not there."""
    raise ModelError("no model here")


def broken() -> Engine:
    """An engine that does not load, for no reason that anybody thought of."""
    raise RuntimeError("odd")


def dying() -> Engine:
    """An engine whose process ends while it loads."""
    os._exit(3)


def echo(connection: Connection, connections: Sequence[Connection], greeting: str) -> None:
    """Says what it was given, then what it is sent, until there is nobody any more."""
    connection.send((greeting, os.getpid(), os.environ.get("OMP_NUM_THREADS"), len(connections)))
    for other in connections:
        other.send(greeting)
    try:
        while True:
            connection.send(connection.recv())
    except EOFError:
        return


def deaf(connection: Connection, _: Sequence[Connection]) -> None:
    """Does not hear that it is to end."""
    connection.send("here")
    time.sleep(60)
