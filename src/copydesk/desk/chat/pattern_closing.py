"""The way out of an answer that is held to a pattern rather than to a schema, near enough and if it is found.

Goes by the grammar alone, never by the model, so that it is the same however the answer came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from copydesk.desk.canonical import Canonical
from copydesk.desk.state import State

_LONGEST = 1024
"""Tokens of the longest way out that is looked for from the beginning."""
_LIKELY = b'"})].,;:!? 0a\n1A-_/'
"""Bytes that are tried before others."""


class PatternClosing:
    """Completes answers of one tokenizer by single bytes, each time another where it comes to the same choice again."""

    def __init__(self, canonical: Canonical, end: int) -> None:
        self._end = end
        tokens = canonical.byte_tokens
        order = [*_LIKELY, *(byte for byte in sorted(tokens) if byte not in _LIKELY)]
        self._bytes = [tokens[byte] for byte in order if byte in tokens]

    def of(self, state: State, written: Sequence[int], most: int) -> tuple[int, ...] | None:
        """The tokens that complete an answer; None if they would be more than `most`, or were not found."""
        ahead = state.copy()
        tokens: list[int] = []
        used: Counter[tuple[int, ...]] = Counter()
        while len(tokens) <= most:
            tokens += ahead.forced()
            if not ahead.finished and ahead.accept(self._end):
                tokens.append(self._end)
            if ahead.finished:
                return tuple(tokens) if len(tokens) <= most else None
            token = self._next(ahead, used)
            if token is None:
                return None
            tokens.append(token)
        return None

    def shortest(self, start: State) -> tuple[int, ...]:
        """A short answer, from the empty beginning of one; empty if none was found."""
        return self.of(start, (), _LONGEST) or ()

    def _next(self, state: State, used: Counter[tuple[int, ...]]) -> int | None:
        """Accept one byte on the way out: one after which the answer may end, or the next among those legal.

        `used` counts how often each choice was come to.
        """
        legal = tuple(token for token in self._bytes if state.allows(token))
        for token in legal:
            state.accept(token)
            if state.finished or state.allows(self._end):
                return token
            state.rewind(1)
        if not legal:
            return None
        token = legal[used[legal] % len(legal)]
        used[legal] += 1
        state.accept(token)
        return token
