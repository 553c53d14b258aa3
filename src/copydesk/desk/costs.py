"""What passes cost on an engine: measured by a few of them at the start, and from then on by those that answers take.

A pass is dearer where it reads a draft as well; how much, no table could say, for it depends on the machine and on what
else that is doing. Knows nothing of what drafts are worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from copydesk.drafting.controller import Costs
from copydesk.engines.protocol import Engine, Read, Wanted

_SIZES = (1, 4, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Tokens in a pass that are told apart: each stands for itself and down to three quarters of it."""
_AT_FIRST = (1, 32, 1, 1, 8, 1, 1)
"""Passes that are made only to be measured. Small ones come between: most are not as large as the one before."""
_SECONDS = 0.25
"""Once this is spent, no more such passes are made."""
_WEIGHT = 0.1
"""Of what was seen last."""
_OUTLIER = 4.0
"""Passes that take so many times as long as usual were held up: they count as no longer than that."""
_EVERY = 8
"""Passes after which the costs are worked out anew."""


class Meter:
    """Mean durations of passes by how many tokens they read."""

    def __init__(self) -> None:
        self._after_others = _Means()
        """By size, of passes that had another number of tokens than the one before."""
        self._after_same = _Means()
        """Of those that had the same: engines then need not make anything ready."""
        self._last = 0
        """Tokens of the pass before."""
        self._count = 0

    def measure(self, engine: Engine, *, clock: Callable[[], float] = time.perf_counter) -> None:
        """Make a few passes. Errors: `EngineError`."""
        started = clock()
        for number, tokens in enumerate(_AT_FIRST):
            if tokens > engine.context_length or (number > 2 and clock() - started > _SECONDS):
                continue
            seconds = _seconds(engine, tokens, clock)
            if number:  # an engine's very first pass says nothing
                self.took(tokens, tokens, seconds)

    def took(self, tokens: int, scored: int, seconds: float) -> bool:
        """Take note of a pass, or of several in one engine call; returns whether it is time to look at `costs`."""
        size = next((size for size in _SIZES if tokens <= size), None)
        means = self._after_same if tokens == self._last else self._after_others
        self._last = tokens
        if size is None or 4 * tokens < 3 * size or 2 * scored < tokens:  # a prompt is cheaper than what is scored
            return False
        means.add(size, seconds)
        self._count += 1
        return self._count % _EVERY == 0

    @property
    def costs(self) -> Costs | None:
        """The costs of passes; None before any was measured."""
        seconds = self._after_others.seconds
        if not seconds:
            return None
        sizes = sorted(seconds)
        table = {}
        # No pass takes longer than a larger one, or a token longer than in a smaller one: what did was held up.
        least = float("inf")
        for size in reversed(sizes):
            least = table[size] = min(least, seconds[size])
        least = float("inf")
        for size in sizes:
            least = min(least, table[size] / size)
            table[size] = least * size
        change = max(0.0, table[sizes[0]] - self._after_same.seconds.get(sizes[0], table[sizes[0]]))
        return Costs.measured({size: table[size] - change for size in sizes}, change)


class _Means:
    """Means that follow what was seen last, by size."""

    def __init__(self) -> None:
        self.seconds: dict[int, float] = {}
        self._seen: dict[int, int] = {}

    def add(self, size: int, seconds: float) -> None:
        seen = self._seen.get(size, 0)
        if seen == 0:
            self.seconds[size] = seconds
        elif seen == 1:  # the first of a size may have had to be prepared for
            self.seconds[size] = min(self.seconds[size], seconds)
        else:
            usual = self.seconds[size]
            self.seconds[size] += _WEIGHT * (min(seconds, _OUTLIER * usual) - usual)
        self._seen[size] = seen + 1


def _seconds(engine: Engine, tokens: int, clock: Callable[[], float]) -> float:
    """How long a pass of so many tokens takes that scores them all."""
    sequence = engine.open()
    try:
        ids = tuple(token % engine.vocab_size for token in range(tokens))
        read = Read(sequence, ids, tuple(map(Wanted, range(tokens))))
        started = clock()
        engine.run([read])
        return clock() - started
    finally:
        engine.release(sequence)
