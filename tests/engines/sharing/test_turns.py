"""Threads that share an engine never meet within it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from copydesk.engines.packed import PackedReads
from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.engines.sharing import turns
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.turns import Turns
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed


class Alone(FakeEngine):
    """Fails if a second thread is in it."""

    inside = 0

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        Alone.inside += 1
        assert Alone.inside == 1
        time.sleep(0.001)
        scores = super().run(reads)
        Alone.inside -= 1
        return scores


class Full(FakeEngine):
    """Has room for three tokens."""

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        held = sum(self.length(sequence) for sequence in self.held)
        if held + sum(len(read.tokens) for read in reads) > 3:
            raise EngineError("full", code="cache_full")
        return super().run(reads)

    def __init__(self) -> None:
        super().__init__(50, hashed(50))
        self.held: set[int] = set()

    def open(self) -> int:
        sequence = super().open()
        self.held.add(sequence)
        return sequence

    def release(self, sequence: int) -> None:
        super().release(sequence)
        self.held.discard(sequence)


def test_a_thread_waits_for_what_another_frees() -> None:
    shared = Turns(Full())
    theirs, own = shared.open(), 0
    shared.run([Read(theirs, (1, 2))])

    def use() -> list[list[Scores]]:
        nonlocal own
        own = shared.open()
        return shared.run([Read(own, (1, 2))])

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(use)
        time.sleep(0.1)
        assert not waiting.done()
        shared.release(theirs)
        assert waiting.result(10) == [[]]


def test_nobody_waits_for_what_is_its_own_or_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Turns(Full())
    own = shared.open()
    shared.run([Read(own, (1, 2))])
    began = time.monotonic()
    with pytest.raises(EngineError, match="full"):
        shared.run([Read(own, (1, 2))])
    assert time.monotonic() - began < 0.5
    monkeypatch.setattr(turns, "_PATIENCE", 0.1)
    with ThreadPoolExecutor(1) as pool, pytest.raises(EngineError, match="full"):
        pool.submit(lambda: shared.run([Read(shared.open(), (1, 2))])).result(10)


def test_threads_take_turns() -> None:
    engine = Alone(50, hashed(50))
    shared = Turns(engine)
    assert Facts.of(shared) == Facts.of(engine)
    start = threading.Barrier(4)

    def use(first: int) -> list[int]:
        start.wait()
        sequence = shared.open()
        shared.run([Read(sequence, (first, 2))])
        fork = shared.fork(sequence)
        shared.cut(fork, 1)
        read = [Read(fork, (7,), (Wanted(0),))]
        [[plain]] = shared.run(read)
        packed = PackedReads.pack([Read(sequence, (7,), (Wanted(0),))])
        native = int(shared.run_packed(packed).argmax[0])
        lengths = [shared.length(fork), shared.length(sequence)]
        assert int(np.argmax(shared.row(fork, 0))) == plain.argmax
        shared.release(sequence)
        shared.release(fork)
        return [plain.argmax, native, *lengths]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(use, range(4)))
    logits = hashed(50)
    assert found == [[logits([n, 7]).argmax(), logits([n, 2, 7]).argmax(), 2, 3] for n in range(4)]
    assert engine.open_sequences == 0
    shared.close()
