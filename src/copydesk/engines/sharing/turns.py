"""An engine that several threads of its process may call: they take turns, a call each.

A sequence still belongs to one of them. Knows nothing of who they are.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from copydesk.engines.packed import Floats, PackedReads, PackedScores, run_packed
from copydesk.engines.protocol import Engine, Read, Scores


class Turns:
    """Satisfies `Engine` and `PackedEngine` over any engine."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.model = engine.model
        self.vocab_size = engine.vocab_size
        self.context_length = engine.context_length
        self.tolerance = engine.tolerance
        self._engine = engine
        self._turn = threading.Lock()

    def open(self) -> int:
        with self._turn:
            return self._engine.open()

    def fork(self, sequence: int) -> int:
        with self._turn:
            return self._engine.fork(sequence)

    def length(self, sequence: int) -> int:
        with self._turn:
            return self._engine.length(sequence)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        with self._turn:
            return self._engine.run(reads)

    def run_packed(self, reads: PackedReads) -> PackedScores:
        with self._turn:
            return run_packed(self._engine, reads)

    def row(self, sequence: int, position: int) -> Floats:
        with self._turn:
            return self._engine.row(sequence, position)

    def cut(self, sequence: int, length: int) -> None:
        with self._turn:
            self._engine.cut(sequence, length)

    def release(self, sequence: int) -> None:
        with self._turn:
            self._engine.release(sequence)

    def close(self) -> None:
        with self._turn:
            self._engine.close()
