"""An engine whose calls wait to be let through, so that a test decides what comes together."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from copydesk.engines.protocol import Read, Scores
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed


class Gated(FakeEngine):
    """A vocabulary of 50; `room` is how many tokens it holds at most."""

    def __init__(self, room: int = 1000) -> None:
        super().__init__(50, hashed(50))
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.refused = 0
        """Calls for which there was no room."""
        self._room = room

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        self.entered.set()
        assert self.gate.wait(10)
        held = sum(self.length(sequence) for sequence in self._sequences)
        if held + sum(len(read.tokens) for read in reads) > self._room:
            self.refused += 1
            raise EngineError("no room", code="cache_full")
        return super().run(reads)
