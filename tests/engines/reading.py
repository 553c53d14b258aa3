"""Reading tokens with an engine, as the tests do it again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from copydesk.engines.protocol import Engine, Read, Scores, Wanted


def read_all(sequence: int, tokens: Sequence[int]) -> Read:
    """A read that wants every position."""
    return Read(sequence, tuple(tokens), tuple(Wanted(index) for index in range(len(tokens))))


def rows_of(engine: Engine, sequence: int, count: int) -> np.ndarray:
    """Log-probabilities `[count, vocab_size]` of a sequence whose last pass wanted its first `count` positions."""
    return np.stack([engine.row(sequence, index) for index in range(count)])


def append(engine: Engine, sequence: int, tokens: Sequence[int]) -> np.ndarray:
    """Log-probabilities after each of `tokens`, read in one pass."""
    engine.run([read_all(sequence, tokens)])
    return rows_of(engine, sequence, len(tokens))


def all_rows(engine: Engine, tokens: Sequence[int]) -> np.ndarray:
    """Log-probabilities after each of `tokens` in a sequence of their own."""
    sequence = engine.open()
    rows = append(engine, sequence, tokens)
    engine.release(sequence)
    return rows


def last_scores(engine: Engine, sequence: int, tokens: Sequence[int], wanted: Wanted | None = None) -> Scores:
    """The scores after the last of `tokens`."""
    return engine.run([Read(sequence, tuple(tokens), (wanted or Wanted(len(tokens) - 1),))])[0][0]
