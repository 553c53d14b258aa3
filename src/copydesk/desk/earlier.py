"""Conversations that the engine has read, kept for a while: their next turn begins as they ended.

Knows nothing of what the tokens mean.
"""

from __future__ import annotations

from collections import OrderedDict

from copydesk.engines.protocol import Engine

Tokens = tuple[int, ...]
_MOST_TOKENS = 4096
"""Kept in all: what a cache can spare on a small machine."""
_LEAST = 32
"""Tokens in common that are worth more than beginning anew."""


class Earlier:
    """A few sequences of one engine, those longest unused given up first."""

    def __init__(self, engine: Engine, most: int = 8, most_tokens: int = _MOST_TOKENS) -> None:
        self._engine = engine
        self._most = most
        self._most_tokens = most_tokens
        self._kept: OrderedDict[int, Tokens] = OrderedDict()

    def take(self, prompt: Tokens, least: int) -> tuple[int, int] | None:
        """A sequence that holds the beginning of a prompt, and how many tokens of it: more than `least`, not all.

        It is the caller's from then on. None if there is none.
        """
        common = {sequence: min(_common(tokens, prompt), len(prompt) - 1) for sequence, tokens in self._kept.items()}
        sequence = max(common, key=common.__getitem__, default=None)
        if sequence is None or common[sequence] < max(_LEAST, least + 1):
            return None
        del self._kept[sequence]
        self._engine.cut(sequence, common[sequence])
        return sequence, common[sequence]

    def keep(self, tokens: Tokens, sequence: int) -> None:
        """Keep a sequence, which the caller gives up: of `tokens`, it has read as many as it holds."""
        self._kept[sequence] = tokens[: self._engine.length(sequence)]
        while len(self._kept) > self._most or sum(map(len, self._kept.values())) > self._most_tokens:
            self._engine.release(self._kept.popitem(last=False)[0])

    def clear(self) -> bool:
        """Release all sequences; returns whether there were any."""
        found = bool(self._kept)
        while self._kept:
            self._engine.release(self._kept.popitem()[0])
        return found


def _common(left: Tokens, right: Tokens) -> int:
    """Length of the common beginning."""
    low, high = 0, min(len(left), len(right))
    while low < high:  # slices are compared many times faster than their items in turn
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
