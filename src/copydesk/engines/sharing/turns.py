"""An engine that several threads of its process may call: they take turns, a call each.

A sequence still belongs to one of them. Where there is no room for one thread's call, and others hold sequences, it
waits a while for them to free some. Knows nothing of who they are.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from copydesk.engines.packed import Floats, PackedReads, PackedScores, run_packed
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.errors import EngineError

_PATIENCE = 1.0
"""Seconds."""


class Turns:
    """Satisfies `Engine` and `PackedEngine` over any engine."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.model = engine.model
        self.vocab_size = engine.vocab_size
        self.context_length = engine.context_length
        self.tolerance = engine.tolerance
        self._engine = engine
        self._turn = threading.Condition(threading.Lock())
        self._threads: dict[int, int] = {}
        """Whose each sequence is."""

    def open(self) -> int:
        with self._turn:
            return self._opened(self._engine.open())

    def fork(self, sequence: int) -> int:
        with self._turn:
            return self._opened(self._engine.fork(sequence))

    def length(self, sequence: int) -> int:
        with self._turn:
            return self._engine.length(sequence)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        until = time.monotonic() + _PATIENCE
        with self._turn:
            while True:
                try:
                    return self._engine.run(reads)
                except EngineError as error:
                    if error.code != "cache_full" or not self._freed(until):
                        raise

    def run_packed(self, reads: PackedReads) -> PackedScores:
        """At once or not at all: whoever calls this has something else to do meanwhile."""
        with self._turn:
            return run_packed(self._engine, reads)

    def row(self, sequence: int, position: int) -> Floats:
        with self._turn:
            return self._engine.row(sequence, position)

    def cut(self, sequence: int, length: int) -> None:
        with self._turn:
            self._engine.cut(sequence, length)
            self._turn.notify_all()

    def release(self, sequence: int) -> None:
        with self._turn:
            self._threads.pop(sequence, None)
            self._engine.release(sequence)
            self._turn.notify_all()

    def close(self) -> None:
        with self._turn:
            self._engine.close()

    def _opened(self, sequence: int) -> int:
        self._threads[sequence] = threading.get_ident()
        return sequence

    def _freed(self, until: float) -> bool:
        """Wait for another thread to free something; False at once if none holds anything, or when time is up."""
        own = threading.get_ident()
        if all(thread == own for thread in self._threads.values()):
            return False
        return self._turn.wait(until - time.monotonic())
