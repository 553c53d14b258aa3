"""The shortest way out of an answer, near enough: the tokens that complete it when no room is left.

Goes by the grammar and the layout of JSON alone, never by the model, so that it is the same however the answer came
about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from copydesk.desk.canonical import Canonical
from copydesk.desk.state import State
from copydesk.errors import LengthError

_LONGEST_SHORTEST = 8192
"""Tokens: a schema whose shortest answer is longer is taken as one that cannot be answered."""
_OPEN_STRING = re.compile(rb'(?:[^"]|"(?:[^"\\]|\\.)*+")*+"(?:[^"\\]|\\.?)*+', re.DOTALL)
_OUTSIDE = b'}],: n"tf0123456789-.[{'
"""Bytes to try between values, the ones that close first, then the ones that open the least."""
_INSIDE = b'"a0A -_.:/@'
"""Bytes to try within a string, those after which it may end first."""


class Closing:
    """Completes answers of one tokenizer."""

    def __init__(self, canonical: Canonical, end: int, vocab_size: int) -> None:
        self._canonical = canonical
        self._end = end
        # By these scores the single bytes come before all other tokens, in their own order.
        self._scores = np.full(vocab_size, -1.0e6, dtype=np.float32)
        for byte, token in canonical.byte_tokens.items():
            self._scores[token] = -float(byte)
        tokens = canonical.byte_tokens
        self._quote = tokens.get(ord('"'))
        self._outside = [tokens[byte] for byte in _OUTSIDE if byte in tokens]
        self._inside = [tokens[byte] for byte in _INSIDE if byte in tokens]

    def of(self, state: State, written: Sequence[int], most: int) -> tuple[int, ...] | None:
        """The tokens that complete an answer of which `written` stands; None if they would be more than `most`."""
        ahead = state.copy()
        tokens: list[int] = []
        while len(tokens) <= most:
            tokens += ahead.forced()
            if ahead.finished:
                return tuple(tokens) if len(tokens) <= most else None
            tokens.append(self._next(ahead, self._canonical.text([*written, *tokens])))
        return None

    def shortest(self, start: State) -> tuple[int, ...]:
        """The shortest answer, from the empty beginning of one. Errors: `LengthError` if it is endless or nearly so."""
        tokens = self.of(start, (), _LONGEST_SHORTEST)
        if tokens is None:
            raise LengthError(f"What the schema requires takes more than {_LONGEST_SHORTEST:,} tokens; require less.")
        return tokens

    def _next(self, state: State, text: bytes) -> int:
        """Accept one token on the way out."""
        if state.accept(self._end):
            return self._end
        in_string = _in_string(text)
        legal = [token for token in (self._inside if in_string else self._outside) if state.allows(token)]
        token = next(iter(legal), None)
        if token is None:
            token = state.best(self._scores)
        elif in_string and token != self._quote:
            token = next((other for other in legal if self._ends_string(state, other)), token)
        state.accept(token)
        return token

    def _ends_string(self, state: State, token: int) -> bool:
        """Whether the string may end after this token."""
        state.accept(token)
        ends = self._quote is not None and state.allows(self._quote)
        state.rewind(1)
        return ends


def _in_string(text: bytes) -> bool:
    """Whether a string is open at the end of a beginning of JSON."""
    return _OPEN_STRING.fullmatch(text) is not None
