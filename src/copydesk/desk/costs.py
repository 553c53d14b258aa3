"""What passes cost on an engine, measured by a few of them: how much dearer a pass is that reads a draft as well.

Knows nothing of what drafts are worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from copydesk.drafting.controller import Costs
from copydesk.engines.protocol import Engine, Read, Wanted

_TOKENS = (1, 8, 32)
"""Larger passes follow from these."""
_SECONDS = 0.25
"""Once this is spent, no more is measured."""
_SHORT = 0.02
"""Seconds: passes as short as this are measured again, for the first of a size may have to be prepared for."""


def measure(engine: Engine, *, clock: Callable[[], float] = time.perf_counter) -> Costs:
    """The costs of passes that score all tokens they read. Errors: `EngineError`."""
    started = clock()
    table: dict[int, float] = {}
    _seconds(engine, 1, clock)  # an engine's very first pass says nothing
    for tokens in _TOKENS:
        if tokens > engine.context_length or (len(table) > 1 and clock() - started > _SECONDS):
            break
        table[tokens] = _seconds(engine, tokens, clock)
        if table[tokens] < _SHORT:
            table[tokens] = min(table[tokens], _seconds(engine, tokens, clock))
    least = float("inf")
    for tokens in sorted(table, reverse=True):  # one that took longer than a larger one was held up by something else
        least = table[tokens] = min(least, table[tokens])
    return Costs.measured(table)


def _seconds(engine: Engine, tokens: int, clock: Callable[[], float]) -> float:
    """How long a pass of so many tokens takes."""
    sequence = engine.open()
    try:
        ids = tuple(token % engine.vocab_size for token in range(tokens))
        read = Read(sequence, ids, tuple(map(Wanted, range(tokens))))
        started = clock()
        engine.run([read])
        return clock() - started
    finally:
        engine.release(sequence)
