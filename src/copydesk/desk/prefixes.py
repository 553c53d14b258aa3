"""The beginnings of prompts that the engine keeps: read once, forked for every text of the same task.

Knows nothing of what the tokens mean.
"""

from __future__ import annotations

from collections import OrderedDict

from copydesk.engines.protocol import Engine
from copydesk.errors import EngineError

Tokens = tuple[int, ...]


class Prefixes:
    """A few prefixes as sequences of one engine, those longest unused given up first."""

    def __init__(self, engine: Engine, most: int = 8) -> None:
        self._engine = engine
        self._most = most
        self._kept: OrderedDict[Tokens, int] = OrderedDict()
        self._awaited: set[Tokens] = set()

    def awaited(self, prefix: Tokens) -> bool:
        """Whether some answer is about to read this prefix, so that it is worth waiting for."""
        return prefix in self._awaited

    def open(self, prefix: Tokens) -> tuple[int, int]:
        """A sequence for a prompt with this prefix, and how many tokens of it it already holds: all or none."""
        kept = self._kept.get(prefix)
        if kept is None:
            sequence = self._engine.open()
            if prefix:
                self._awaited.add(prefix)
            return sequence, 0
        self._kept.move_to_end(prefix)
        return self._engine.fork(kept), len(prefix)

    def keep(self, prefix: Tokens, sequence: int) -> None:
        """Keep a prefix that `sequence` has read, which goes on unchanged; unless the engine has no room for it."""
        self._awaited.discard(prefix)
        if prefix in self._kept or not prefix:
            return
        try:
            copy = self._engine.fork(sequence)
        except EngineError:
            return
        self._kept[prefix] = copy
        self._engine.cut(copy, len(prefix))
        if len(self._kept) > self._most:
            self._engine.release(self._kept.popitem(last=False)[1])

    def forgo(self, prefix: Tokens) -> None:
        """No longer wait for a prefix whose reader has gone."""
        self._awaited.discard(prefix)

    def clear(self) -> bool:
        """Release all sequences; returns whether there were any."""
        found = bool(self._kept)
        while self._kept:
            self._engine.release(self._kept.popitem()[1])
        return found
