"""A client keeps count by itself, tells the server in time, and fails clearly when the server is gone.

That it is an engine like any other, the laws of engines say (`tests/engines/test_laws.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.engines.sharing import client as client_module
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed

from .conftest import Serve
from .test_server import until


def test_changes_ride_along_with_the_next_pass(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    _, [client] = serve(engine, 1)
    first = client.open()
    client.run([Read(first, (1, 2, 3))])
    fork = client.fork(first)
    client.cut(fork, 2)
    client.release(client.fork(fork))
    assert (client.length(first), client.length(fork), engine.open_sequences) == (3, 2, 1)
    [[scores]] = client.run([Read(fork, (9,), (Wanted(0),))])
    assert scores.argmax == hashed(50)([1, 2, 9]).argmax()
    assert (client.length(fork), engine.open_sequences) == (3, 2)
    np.testing.assert_array_equal(client.row(fork, -1).argmax(), scores.argmax)


def test_flushing_tells_them_at_once(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    _, [client] = serve(engine, 1)
    sequence = client.open()
    client.run([Read(sequence, (1,))])
    client.release(sequence)
    assert engine.open_sequences == 1
    client.flush()
    until(lambda: engine.open_sequences == 0)


def test_many_changes_are_not_kept_for_ever(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MOST_CHANGES", 10)
    engine = FakeEngine(50, hashed(50))
    _, [client] = serve(engine, 1)
    for _ in range(25):
        client.open()
    until(lambda: engine.open_sequences == 20)


def test_tokens_decoded_ahead_count(serve: Serve) -> None:
    class Ahead(FakeEngine):
        def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
            return [[Scores(4, -1.0, ahead=((5, -2.0), (6, -3.0)))] for _ in reads]

    _, [client] = serve(Ahead(50, hashed(50)), 1)
    sequence = client.open()
    [[scores]] = client.run([Read(sequence, (1, 2), (Wanted(1, ahead=7),))])
    assert scores.ahead == ((5, -2.0), (6, -3.0))
    assert client.length(sequence) == 4  # the two, the argmax, and all that came after it but the last


def test_a_failed_pass_counts_for_nothing(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    _, [client] = serve(engine, 1)
    sequence = client.open()
    engine.failing = RuntimeError("broken")
    with pytest.raises(EngineError, match="broken"):
        client.run([Read(sequence, (1, 2))])
    assert client.length(sequence) == 0


def test_a_server_that_is_gone(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    host, [client] = serve(engine, 1)
    sequence = client.open()
    client.run([Read(sequence, (1,), (Wanted(0),))])
    host.close()
    for call in (lambda: client.run([Read(sequence, (1,))]), lambda: client.row(sequence, 0)):
        with pytest.raises(EngineError, match="has ended") as gone:
            call()
        assert gone.value.code == "engine_failed"
    client.release(sequence)
    client.flush()
    client.close()


def test_a_closed_client(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    _, [client] = serve(engine, 1)
    client.run([Read(client.open(), (1,))])
    client.close()
    client.close()
    with pytest.raises(EngineError, match="closed"):
        client.run([Read(client.open(), (1,))])
    until(lambda: engine.open_sequences == 0)
