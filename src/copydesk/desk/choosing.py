"""Which token goes in at an open position: the model's own choice if it is legal, else the best legal one.

Sampling is the same rule on scores with noise that depends on the seed, the position and the token only, so a draft
changes nothing there either. Knows nothing of drafts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from copydesk.desk.state import State
from copydesk.engines.protocol import Scores

Row = Callable[[], np.ndarray]
"""Gives the log-probabilities `[vocab_size]` of a position; costs something, so it is called only where needed."""

COLDEST = 1e-6
"""Temperatures below this take the most probable token: the noise could not change it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A token, and the log-probability that the model gave it, whatever was legal."""

    token: int
    logprob: float


@dataclass(frozen=True, slots=True)
class Preference:
    """What the model would choose if everything were legal, and the scores to fall back on."""

    first: Chosen
    _rows: Callable[[], tuple[np.ndarray, np.ndarray]]
    """Log-probabilities, and the scores to choose by: they are fetched only where needed."""

    def within(self, state: State) -> Chosen:
        """The first choice if it is legal, else the best legal token."""
        if state.allows(self.first.token):
            return self.first
        logprobs, scores = self._rows()
        token = state.best(scores)
        return Chosen(token, float(logprobs[token]))


@dataclass(frozen=True, slots=True)
class Choosing:
    """How tokens are chosen throughout an answer."""

    temperature: float = 0.0
    seed: int = 0

    @property
    def is_greedy(self) -> bool:
        """Whether the model's own first choice is taken."""
        return self.temperature < COLDEST

    def prefer(self, scores: Scores, row: Row, position: int) -> Preference:
        """The preference at `position`, counted in the answer's tokens."""
        if self.is_greedy:
            return Preference(Chosen(scores.argmax, scores.logprob), lambda: (row(),) * 2)
        logprobs = row()
        noisy = logprobs / np.float32(self.temperature) + noise(self.seed, position, len(logprobs))
        argmax = int(noisy.argmax())
        return Preference(Chosen(argmax, float(logprobs[argmax])), lambda: (logprobs, noisy))


def noise(seed: int, position: int, size: int) -> np.ndarray:
    """Gumbel noise `[size]`: the argmax of scores plus it is a sample from them."""
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, position], np.uint64)))
    uniform = np.maximum(generator.random(size, dtype=np.float32), np.float32(1e-10))  # never log(0)
    return -np.log(-np.log(uniform))
