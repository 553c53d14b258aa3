"""Runs one engine for several clients: whatever passes wait when the engine is free go into one call.

It never waits for more: while the engine computes for some clients the others prepare what they ask for next. A pass
for which there is no room waits for others to free some. Knows nothing of what clients do.
"""

from __future__ import annotations

import logging
import selectors
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

import numpy as np

from copydesk.engines.packed import PackedReads, run_packed
from copydesk.engines.protocol import Engine
from copydesk.engines.sharing import wire
from copydesk.engines.sharing.wire import Change, Changes
from copydesk.errors import EngineError

TOKENS_PER_CALL = 16384
"""Tokens of the most passes that are put together; enough for matrix products to be near their limit on a large GPU."""

_PATIENCE = 1.0
"""Seconds that passes wait for room while nobody frees any; then the largest of them fails with `cache_full`."""

_log = logging.getLogger("copydesk")


@dataclass(slots=True, eq=False)
class _Client:
    connection: Connection
    handles: dict[int, int] = field(default_factory=dict)
    """The engine's sequences, by the client's own numbers for them."""
    broken: dict[int, Exception] = field(default_factory=dict)
    """Sequences of which a change failed; a pass of them fails with that."""

    def handle(self, sequence: int) -> int:
        """The engine's own number of a sequence. Errors: what a change of it failed with."""
        if sequence in self.broken:
            raise self.broken[sequence]
        return self.handles[sequence]


@dataclass(frozen=True, slots=True)
class _Pass:
    """What a client waits for: reads of the engine's sequences."""

    client: _Client
    reads: PackedReads


class EngineServer:
    """Runs an engine for clients on the thread that calls `run`. The engine stays the caller's to close."""

    def __init__(
        self,
        engine: Engine,
        until: Connection,
        clients: Sequence[Connection],
        *,
        tokens_per_call: int = TOKENS_PER_CALL,
    ) -> None:
        """Takes the connections over: those to clients, and `until`, at whose end or first message it stops.

        Into an engine call go passes of `tokens_per_call` tokens together at most, but at least one client's.
        """
        self._engine = engine
        self._until = until
        self._tokens_per_call = tokens_per_call
        self._waiting: deque[_Pass] = deque()
        self._cramped: list[_Pass] = []
        """Passes for which there was no room when they were last tried."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(until, selectors.EVENT_READ)
        for connection in clients:
            self._selector.register(connection, selectors.EVENT_READ, _Client(connection))

    def run(self) -> None:
        """Serve until told to stop. Then all clients are cut off, which tells them that the engine is gone."""
        try:
            while self._receive():
                if self._waiting:
                    self._pass(self._together())
        finally:
            for client in self._clients():
                self._lose(client)
            self._selector.close()
            self._until.close()

    def _clients(self) -> list[_Client]:
        return [key.data for key in self._selector.get_map().values() if isinstance(key.data, _Client)]

    def _receive(self) -> bool:
        """Take in what clients have sent, waiting only if there is nothing to do; returns whether to go on."""
        patience = None
        if self._cramped:
            patience = _PATIENCE if len(self._cramped) < len(self._clients()) else 0.0
        events = self._selector.select(0.0 if self._waiting else patience)
        for key, _ in events:
            if not isinstance(key.data, _Client):
                return False
            self._take(key.data)
        if self._cramped and not events and not self._waiting:
            largest = max(self._cramped, key=lambda one: len(one.reads.sequences))
            self._cramped.remove(largest)
            self._reply(largest.client, wire.failure(EngineError("The cache is full.", code="cache_full")))
        return True

    def _take(self, client: _Client) -> None:
        try:
            changes, asked = wire.requested(client.connection.recv_bytes())
        except (EOFError, OSError):
            self._lose(client)
            return
        self._change(client, changes)
        if asked is None:
            return
        try:
            if isinstance(asked, PackedReads):
                handles = np.array([client.handle(sequence) for sequence in asked.sequences.tolist()], np.int64)
                self._waiting.append(_Pass(client, replace(asked, sequences=handles)))
            else:
                sequence, position = asked
                self._reply(client, wire.row(self._engine.row(client.handle(sequence), position)))
        except Exception as error:
            self._reply(client, wire.failure(error))

    def _change(self, client: _Client, changes: Changes) -> None:
        for change, sequence, argument in changes:
            try:
                if change == Change.OPEN:
                    client.handles[sequence] = self._engine.open()
                elif change == Change.FORK:
                    client.handles[sequence] = self._engine.fork(client.handle(argument))
                elif change == Change.CUT:
                    self._engine.cut(client.handle(sequence), argument)
                    self._try_again()
                else:
                    client.broken.pop(sequence, None)
                    if sequence in client.handles:
                        self._engine.release(client.handles.pop(sequence))
                    self._try_again()
            except Exception as error:
                client.broken[sequence] = error

    def _together(self) -> list[_Pass]:
        """The passes that go into the next call: those that wait longest."""
        together = [self._waiting.popleft()]
        tokens = len(together[0].reads.tokens)
        while self._waiting and tokens + len(self._waiting[0].reads.tokens) <= self._tokens_per_call:
            together.append(self._waiting.popleft())
            tokens += len(together[-1].reads.tokens)
        return together

    def _pass(self, passes: Sequence[_Pass]) -> None:
        parts = [one.reads for one in passes]
        try:
            scores = run_packed(self._engine, PackedReads.concatenate(parts)).split(parts)
        except Exception as error:
            if len(passes) > 1:  # the fault, or the lack of room, may be of one alone
                half = len(passes) // 2
                self._pass(passes[:half])
                self._pass(passes[half:])
            elif isinstance(error, EngineError) and error.code == "cache_full":
                self._cramped += passes
            else:
                self._reply(passes[0].client, wire.failure(error))
            return
        for one, scored in zip(passes, scores, strict=True):
            self._reply(one.client, wire.scores(scored))

    def _try_again(self) -> None:
        """Let those wait again for which there may be room now."""
        self._waiting.extendleft(reversed(self._cramped))
        self._cramped.clear()

    def _reply(self, client: _Client, message: bytes) -> None:
        try:
            client.connection.send_bytes(message)
        except OSError:
            self._lose(client)

    def _lose(self, client: _Client) -> None:
        """Free what a client that is gone held."""
        if client.connection.closed:
            return
        self._selector.unregister(client.connection)
        client.connection.close()
        self._waiting = deque(one for one in self._waiting if one.client is not client)
        self._cramped = [one for one in self._cramped if one.client is not client]
        for handle in client.handles.values():
            try:
                self._engine.release(handle)
            except Exception:
                _log.debug("A sequence could not be freed.", exc_info=True)
        client.handles.clear()
        self._try_again()
