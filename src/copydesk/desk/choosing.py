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

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
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
        noisy = logprobs / np.float32(self.temperature) + noise(self.seed, position, np.arange(len(logprobs)))
        argmax = int(noisy.argmax())
        return Preference(Chosen(argmax, float(logprobs[argmax])), lambda: (logprobs, noisy))


def noise(seed: int, position: int, tokens: np.ndarray) -> np.ndarray:
    """Gumbel noise for some tokens at a position: the argmax of all tokens' scores plus it is a sample from them."""
    key = _mixed(_mixed(np.array([seed], np.uint64)) ^ np.uint64(position))
    bits = _mixed(key + (tokens.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53  # never 0 or 1
    gumbel: np.ndarray = -np.log(-np.log(uniform))
    return gumbel


def _mixed(bits: np.ndarray) -> np.ndarray:
    """64 bits that depend on all of 64 bits, and each on each (the finalizer of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = bits ^ (bits >> np.uint64(31))
    return mixed
