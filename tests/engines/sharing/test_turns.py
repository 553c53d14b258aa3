"""Threads that share an engine never meet within it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from copydesk.engines.packed import PackedReads
from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.turns import Turns
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
