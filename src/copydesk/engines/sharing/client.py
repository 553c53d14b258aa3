"""An engine that is run by a server, perhaps in another process.

Knows nothing of the server but its messages.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection

from copydesk.engines.packed import Floats, PackedReads, PackedScores
from copydesk.engines.protocol import Read, Scores
from copydesk.engines.sharing import wire
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.wire import Change
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError

_MOST_CHANGES = 4096
"""Changes that wait for the next pass; more are sent at once."""


class EngineClient:
    """Satisfies `Engine`. One thread calls it, but for `flush`, which any may."""

    def __init__(self, connection: Connection, facts: Facts) -> None:
        """Takes `connection` over; `facts` are those of the server's engine."""
        self.name = facts.name
        self.model = facts.model
        self.vocab_size = facts.vocab_size
        self.context_length = facts.context_length
        self.tolerance = facts.tolerance
        self._connection = connection
        self._lengths: dict[int, int] = {}
        self._handles = 0
        self._changes: list[tuple[Change, int, int]] = []
        """Those that the server has not been told of."""
        self._sending = threading.Lock()
        self._gone: EngineError | None = None

    @property
    def lost(self) -> bool:
        """Whether the server is gone, or this was closed."""
        return self._gone is not None

    def open(self) -> int:
        return self._added(Change.OPEN, 0, 0)

    def fork(self, sequence: int) -> int:
        return self._added(Change.FORK, sequence, self._lengths[sequence])

    def length(self, sequence: int) -> int:
        return self._lengths[sequence]

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        check_reads(self, reads)
        packed = PackedReads.pack(reads)
        return self.run_packed(packed).unpack(packed)

    def run_packed(self, reads: PackedReads) -> PackedScores:
        """As `run`, for reads whose sense was checked by whoever packed them."""
        scores = wire.scored(self._ask(reads))
        # Where tokens were decoded ahead, the sequence holds the argmax as well, and all of them but the last.
        lengths = (reads.lengths + scores.ahead_counts).tolist()
        for sequence, length in zip(reads.sequences.tolist(), lengths, strict=True):
            self._lengths[sequence] += length
        return scores

    def row(self, sequence: int, position: int) -> Floats:
        return wire.answered_row(self._ask((sequence, position)))

    def cut(self, sequence: int, length: int) -> None:
        check_cut(self, sequence, length)
        self._lengths[sequence] = length
        self._note(Change.CUT, sequence, length)

    def release(self, sequence: int) -> None:
        del self._lengths[sequence]
        self._note(Change.RELEASE, sequence, 0)

    def flush(self) -> None:
        """Tell the server now what else it would be told with the next pass: that sequences are free."""
        with self._sending:
            if self._changes and self._gone is None:
                self._send(None)

    def close(self) -> None:
        """Leave the server, which frees all sequences; its engine goes on."""
        with self._sending:
            self._gone = self._gone or EngineError("This client of the engine is closed.", code="engine_failed")
            self._connection.close()
        self._lengths.clear()

    def _added(self, change: Change, origin: int, length: int) -> int:
        self._handles += 1
        self._lengths[self._handles] = length
        self._note(change, self._handles, origin)
        return self._handles

    def _note(self, change: Change, sequence: int, argument: int) -> None:
        with self._sending:
            self._changes.append((change, sequence, argument))
            if len(self._changes) >= _MOST_CHANGES and self._gone is None:
                self._send(None)

    def _ask(self, asked: wire.Asked) -> bytes:
        """The server's answer. Errors: `EngineError` when there is none any more."""
        with self._sending:
            if self._gone is None:
                self._send(asked)
        if self._gone is None:
            try:
                return self._connection.recv_bytes()
            except (EOFError, OSError) as error:
                self._lose(error)
        raise self._gone or EngineError("The engine is gone.", code="engine_failed")

    def _send(self, asked: wire.Asked) -> None:
        message = wire.request(self._changes, asked)
        self._changes = []
        try:
            self._connection.send_bytes(message)
        except OSError as error:
            self._lose(error)

    def _lose(self, error: Exception) -> None:
        self._gone = EngineError(
            f"The process that runs the model has ended ({type(error).__name__}); load the model again.",
            code="engine_failed",
        )
