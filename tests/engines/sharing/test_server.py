"""What waits together is computed together; a fault, or a lack of room, is of one client alone."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import pytest

from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.engines.sharing import server
from copydesk.engines.sharing.client import EngineClient
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed
from waiting import until

from .conftest import Serve
from .gated import Gated


def ask(client: EngineClient, *tokens: int) -> list[list[Scores]]:
    """A pass of a sequence of its own, which is kept."""
    return client.run([Read(client.open(), tokens, (Wanted(len(tokens) - 1, (3,)),))])


def hang_up(connection: Connection) -> None:
    """What the end of a process does to its connections."""
    with socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)


def alone(*tokens: int) -> list[list[Scores]]:
    engine = FakeEngine(50, hashed(50))
    return engine.run([Read(engine.open(), tokens, (Wanted(len(tokens) - 1, (3,)),))])


def same(left: list[list[Scores]], right: list[list[Scores]]) -> bool:
    lefts, rights = itertools.chain.from_iterable(left), itertools.chain.from_iterable(right)
    pairs = zip(lefts, rights, strict=True)
    return all(one.argmax == other.argmax and one.listed == pytest.approx(other.listed) for one, other in pairs)


def held_up(engine: Gated, clients: list[EngineClient], pool: ThreadPoolExecutor) -> list[Future[Any]]:
    """All clients ask, the first of them alone and the others while its call goes on; then the gate opens."""
    engine.gate.clear()
    engine.entered.clear()
    asked = [pool.submit(ask, clients[0], 1, 2)]
    assert engine.entered.wait(10)
    asked += [pool.submit(ask, client, 1, 2, index) for index, client in enumerate(clients[1:], 10)]
    until(lambda: all(client._handles and not client._changes for client in clients))
    time.sleep(0.05)
    engine.gate.set()
    return asked


def test_what_waits_goes_into_one_call(serve: Serve) -> None:
    engine = Gated()
    _, clients = serve(engine, 5)
    with ThreadPoolExecutor(5) as pool:
        asked = held_up(engine, clients, pool)
        assert same(asked[0].result(10), alone(1, 2))
        for index, future in enumerate(asked[1:], 10):
            assert same(future.result(10), alone(1, 2, index))
    assert engine.calls == [1, 4]


def test_a_call_has_so_many_tokens_at_most(serve: Serve) -> None:
    engine = Gated()
    _, clients = serve(engine, 5, tokens_per_call=6)
    with ThreadPoolExecutor(5) as pool:
        for future in held_up(engine, clients, pool):
            future.result(10)
        assert engine.calls == [1, 2, 2]
        assert same(ask(clients[0], *range(20)), alone(*range(20)))


def test_a_fault_is_told_to_the_one_whose_it_is(serve: Serve) -> None:
    engine = Gated()
    _, clients = serve(engine, 3)
    engine.failing = RuntimeError("of all of them at first")
    with ThreadPoolExecutor(3) as pool:
        engine.gate.clear()
        engine.entered.clear()
        first = pool.submit(ask, clients[0], 1)
        assert engine.entered.wait(10)
        bad = pool.submit(clients[1].run_packed, _twice(clients[1]))
        good = pool.submit(ask, clients[2], 4, 5)
        time.sleep(0.1)
        engine.gate.set()
        with pytest.raises(EngineError, match="of all of them at first") as failed:
            first.result(10)
        assert failed.value.code == "engine_failed"
        with pytest.raises(EngineError, match="twice"):
            bad.result(10)
        assert same(good.result(10), alone(4, 5))


def _twice(client: EngineClient) -> Any:
    from copydesk.engines.packed import PackedReads

    sequence = client.open()
    return PackedReads.pack([Read(sequence, (1,)), Read(sequence, (1,))])


def test_a_client_that_goes_frees_what_it_held(serve: Serve) -> None:
    engine = FakeEngine(50, hashed(50))
    _, clients = serve(engine, 2)
    for client in clients:
        ask(client, 1)
        ask(client, 2)
    assert engine.open_sequences == 4
    clients[0].close()
    until(lambda: engine.open_sequences == 2)
    assert same(ask(clients[1], 4, 5), alone(4, 5))


def test_a_client_that_goes_while_it_waits(serve: Serve) -> None:
    engine = Gated()
    _, clients = serve(engine, 3)
    engine.gate.clear()
    engine.entered.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, clients[0], 1)
        assert engine.entered.wait(10)
        second = pool.submit(ask, clients[1], 1)
        time.sleep(0.1)
        hang_up(clients[1]._connection)
        engine.gate.set()
        first.result(10)
        with pytest.raises(EngineError, match="has ended"):
            second.result(10)
    until(lambda: engine.open_sequences == 1)
    assert same(ask(clients[2], 4, 5), alone(4, 5))


def test_no_room_waits_for_others_to_free_some(serve: Serve) -> None:
    engine = Gated(room=10)
    _, (one, two) = serve(engine, 2)
    held = one.open()
    one.run([Read(held, (1,) * 8)])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, two, 1, 2, 3)
        until(lambda: engine.refused)
        one.release(held)
        one.flush()
        assert same(waiting.result(10), alone(1, 2, 3))


def test_without_any_room_to_come_the_largest_fails(serve: Serve) -> None:
    engine = Gated(room=10)
    _, (one, two) = serve(engine, 2)
    for client in (one, two):
        client.run([Read(client.open(), (1,) * 5)])
    with ThreadPoolExecutor(2) as pool:
        small = pool.submit(ask, one, 1)
        until(lambda: engine.refused)
        sequences = [two.open(), two.open()]
        with pytest.raises(EngineError) as full:
            two.run([Read(sequence, (1, 2)) for sequence in sequences])
        assert full.value.code == "cache_full"
        assert not small.done()
        two.close()
        assert same(small.result(10), alone(1))


def test_one_that_only_waits_for_itself_fails_at_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PATIENCE", 60.0)
    engine = Gated(room=2)
    _, [client] = serve(engine, 1)
    started = time.monotonic()
    with pytest.raises(EngineError) as full:
        ask(client, 1, 2, 3)
    assert full.value.code == "cache_full"
    assert time.monotonic() - started < 30.0
    assert same(ask(client, 1, 2), alone(1, 2))


def test_a_sequence_whose_change_failed_fails_alone(serve: Serve) -> None:
    class NoForks(FakeEngine):
        def fork(self, sequence: int) -> int:
            raise EngineError("no more", code="cache_full")

    engine = NoForks(50, hashed(50))
    _, [client] = serve(engine, 1)
    sequence = client.open()
    client.run([Read(sequence, (1, 2))])
    fork = client.fork(sequence)
    second = client.fork(fork)
    for broken in (fork, second):
        with pytest.raises(EngineError, match="no more") as failed:
            client.run([Read(sequence, (3,)), Read(broken, (3,))])
        assert failed.value.code == "cache_full"
        client.release(broken)
    client.run([Read(sequence, (3,))])
    assert client.length(sequence) == 3
    assert engine.open_sequences == 1


def test_closing_tells_who_waits(serve: Serve) -> None:
    engine = Gated(room=10)
    host, (one, two) = serve(engine, 2)
    one.run([Read(one.open(), (1,) * 8)])
    failures: list[Exception] = []

    def wait() -> None:
        try:
            ask(two, 1, 2, 3)
        except EngineError as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: engine.refused)
    host.close()
    thread.join(10)
    assert "has ended" in str(failures[0])
    assert engine.open_sequences == 0
    host.close()
