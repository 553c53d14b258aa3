"""An engine without a model: its scores are a function of the tokens read, made up by a hash or by the test.

Strict about the protocol, so that a desk that breaks it fails its tests: a stale row, a sequence read twice in a call
or used after its release all raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from copydesk.engines.protocol import Read, Scores, Wanted

Logits = Callable[[Sequence[int]], np.ndarray]
"""From all tokens of a sequence to the logits `[vocab_size]` of the next."""


@dataclass
class _Sequence:
    tokens: list[int]
    rows: dict[int, np.ndarray] = field(default_factory=dict)


class FakeEngine:
    """Satisfies `Engine`."""

    name = "fake"
    model = "fake-model"
    tolerance = 1e-3

    def __init__(self, vocab_size: int, logits: Logits, *, context_length: int = 4096, decodes: int = 0) -> None:
        """`decodes` is how many tokens it decodes by itself at most, where it may."""
        self.vocab_size = vocab_size
        self._decodes = decodes
        self.context_length = context_length
        self.calls: list[int] = []
        """How many reads each engine call had."""
        self.tokens_read = 0
        self.failing: Exception | None = None
        """Raised by the next call."""
        self._logits = logits
        self._sequences: dict[int, _Sequence] = {}
        self._handles = 0

    @property
    def open_sequences(self) -> int:
        return len(self._sequences)

    def open(self) -> int:
        return self._added([])

    def fork(self, sequence: int) -> int:
        return self._added(list(self._sequences[sequence].tokens))

    def length(self, sequence: int) -> int:
        return len(self._sequences[sequence].tokens)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        if self.failing is not None:
            error, self.failing = self.failing, None
            raise error
        if len({read.sequence for read in reads}) < len(reads):
            raise RuntimeError("a sequence is read twice in one call")
        self.calls.append(len(reads))
        return [self._pass(read) for read in reads]

    def row(self, sequence: int, position: int) -> np.ndarray:
        return self._sequences[sequence].rows[position]

    def cut(self, sequence: int, length: int) -> None:
        held = self._sequences[sequence]
        if length > len(held.tokens):
            raise RuntimeError("a sequence cannot be cut to more than it holds")
        del held.tokens[length:]
        held.rows.clear()

    def release(self, sequence: int) -> None:
        del self._sequences[sequence]

    def close(self) -> None:
        self.closed = True  # what it still holds is left to be looked at

    def _added(self, tokens: list[int]) -> int:
        self._handles += 1
        self._sequences[self._handles] = _Sequence(tokens)
        return self._handles

    def _pass(self, read: Read) -> list[Scores]:
        held = self._sequences[read.sequence]
        if not read.tokens or len(held.tokens) + len(read.tokens) > self.context_length:
            raise RuntimeError(f"a pass of {len(read.tokens)} tokens after {len(held.tokens)}")
        self.tokens_read += len(read.tokens)
        start = len(held.tokens)
        held.tokens += read.tokens
        held.rows.clear()
        scores = []
        for wanted in read.wanted:
            row = _row(self._logits(held.tokens[: start + wanted.position + 1]))
            held.rows[wanted.position] = held.rows[wanted.position - len(read.tokens)] = row
            scores.append(_scores(row, wanted))
        if read.wanted and read.wanted[-1].ahead:
            scores[-1] = replace(scores[-1], ahead=self._decoded(held, scores[-1].argmax, read.wanted[-1].ahead))
        return scores

    def _decoded(self, held: _Sequence, token: int, most: int) -> tuple[tuple[int, float], ...]:
        """What comes after a token, which the sequence then holds with all but the last of them."""
        decoded: list[tuple[int, float]] = []
        while len(decoded) < min(most, self._decodes) and len(held.tokens) < self.context_length:
            held.tokens.append(token)
            row = _row(self._logits(held.tokens))
            token = int(row.argmax())
            decoded.append((token, float(row[token])))
        return tuple(decoded)


def hashed(vocab_size: int, seed: int = 0, *, sharpness: float = 3.0) -> Logits:
    """Random logits, always the same for the same tokens."""

    def logits(tokens: Sequence[int]) -> np.ndarray:
        state = seed + 1
        for token in tokens:
            state = (state * 6364136223846793005 + token + 1442695040888963407) % 2**64
        return np.random.Generator(np.random.PCG64(state)).normal(0.0, sharpness, vocab_size)

    return logits


def reciting(
    vocab_size: int, answer: Callable[[Sequence[int]], int | None], *, otherwise: Logits | None = None
) -> Logits:
    """Logits that put nearly all weight on the token that `answer` names for the tokens so far."""

    def logits(tokens: Sequence[int]) -> np.ndarray:
        row = np.zeros(vocab_size) if otherwise is None else otherwise(tokens).copy()
        token = answer(tokens)
        if token is not None:
            row[token] = row.max() + 10.0
        return row

    return logits


def _row(logits: np.ndarray) -> np.ndarray:
    """Log-probabilities."""
    lowered = logits.astype(np.float64) - logits.max()
    return (lowered - np.log(np.exp(lowered).sum())).astype(np.float32)


def _scores(row: np.ndarray, wanted: Wanted) -> Scores:
    argmax = int(row.argmax())
    order = np.argsort(-row, kind="stable")[: wanted.top]
    return Scores(
        argmax=argmax,
        logprob=float(row[argmax]),
        listed=tuple(float(row[token]) for token in wanted.listed),
        top=tuple((int(token), float(row[token])) for token in order),
    )
