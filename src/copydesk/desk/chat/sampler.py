"""Which token a reply goes on with: penalties, then temperature, then legality, then top-k, top-p and min-p.

Sampling takes the best token by scores with noise that depends on the seed, the position and the token only, so a draft
changes nothing. The greedy choice mostly needs no full row of scores, penalties or not. Knows nothing of texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from copydesk.desk.choosing import COLDEST, Chosen, noise
from copydesk.engines.protocol import Scores
from copydesk.types import Sampling

Floats = NDArray[np.float32]
Row = Callable[[], np.ndarray]
"""Gives the log-probabilities `[vocab_size]` of a position; costs something, so it is called only where needed."""
_LEVEL = 20.0
"""Engines give logits only up to a constant, and a repetition penalty depends on it: the most probable token is taken
to have this logit, which is about what it has in models of today."""
_TOP_OF_GREEDY, _TOP_OF_SAMPLES = 8, 64
"""Tokens looked at before all of them are: where penalties may move the best one, where only the best are sampled."""
_SIZES = (64, 512, 4096)
"""Tokens sorted before all of them are, in search of those that make up a share of the probability."""


class Legality(Protocol):
    """What may come next."""

    def allows(self, token: int) -> bool:
        """Whether a token is legal."""

    def legal(self) -> NDArray[np.bool_]:
        """Which tokens are, `[vocab_size]`."""


@dataclass(frozen=True, slots=True)
class _Penalties:
    """What lowers the scores of tokens that stand already."""

    repetition: float
    presence: float
    frequency: float

    @property
    def none(self) -> bool:
        return self.repetition == 1.0 and self.presence == 0.0 and self.frequency == 0.0

    @property
    def only_lower(self) -> bool:
        return self.repetition >= 1.0 and self.presence >= 0.0 and self.frequency >= 0.0

    def of(self, scores: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of tokens that stand in prompt or reply, in the reply so many times each."""
        lowered: NDArray[np.float64] = np.where(scores > 0, scores / self.repetition, scores * self.repetition)
        return lowered - self.presence * (times > 0) - self.frequency * times


class Sampler:
    """Chooses the tokens of one reply."""

    def __init__(self, sampling: Sampling, prompt: Iterable[int]) -> None:
        """`prompt` are the tokens before the reply."""
        self._sampling = sampling
        self._penalties = _Penalties(sampling.repetition_penalty, sampling.presence_penalty, sampling.frequency_penalty)
        self._prompt = frozenset(prompt) if sampling.repetition_penalty != 1.0 else frozenset()
        self._written: Counter[int] = Counter()

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken."""
        return self._sampling.temperature < COLDEST

    @property
    def plain(self) -> bool:
        """Whether the most probable legal token is taken, whatever stands already."""
        return self.greedy and self._penalties.none

    @property
    def top(self) -> int:
        """How many of the most probable tokens it wants to be told."""
        if not self._penalties.only_lower:
            return 0
        if self.greedy:
            return 0 if self._penalties.none else _TOP_OF_GREEDY
        return _TOP_OF_SAMPLES if self._filters else 0

    @property
    def _filters(self) -> bool:
        """Whether only the best few tokens can be sampled."""
        return self._sampling.top_k > 0 or self._sampling.top_p < 1.0 or self._sampling.min_p > 0.0

    def took(self, token: int) -> None:
        """Take note of a token that now stands."""
        if not self._penalties.none:
            self._written[token] += 1

    def choose(self, scores: Scores, row: Row, position: int, state: Legality) -> Chosen:
        """The token at `position`, counted in the reply's tokens."""
        if not self.greedy:
            return self._sample_from_top(scores, position, state) or self._sample(scores, row(), position, state)
        if self._penalties.none:
            if state.allows(scores.argmax):
                return Chosen(scores.argmax, scores.logprob)
        elif (chosen := self._best_of_top(scores, state)) is not None:
            return chosen
        logprobs = row()
        lowered = self._lowered(logprobs, scores.logprob)
        token = int(np.where(state.legal(), lowered, -np.inf).argmax())
        return Chosen(token, float(logprobs[token]))

    def _best_of_top(self, scores: Scores, state: Legality) -> Chosen | None:
        """The best token where the most probable ones settle it: penalties only lower scores."""
        if not self._penalties.only_lower:
            return None
        if not self._stands(scores.argmax) and state.allows(scores.argmax):
            return Chosen(scores.argmax, scores.logprob)
        if not scores.top:
            return None
        tokens, logprobs = _arrays(scores)
        lowered = self._lowered(logprobs, scores.logprob, tokens)
        for place in np.lexsort((tokens, -lowered)).tolist():
            if lowered[place] <= _lifted(logprobs[-1], scores.logprob):  # one that is not among them may be as good
                return None
            if state.allows(int(tokens[place])):
                return Chosen(int(tokens[place]), float(logprobs[place]))
        return None

    def _stands(self, token: int) -> bool:
        return token in self._prompt or token in self._written

    def _lowered(
        self, logprobs: np.ndarray, highest: float, tokens: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Scores of some tokens, or of all, on the level of logits, penalties applied."""
        lifted: NDArray[np.float64] = _lifted(logprobs.astype(np.float64), highest)
        if self._penalties.none:
            return lifted
        if tokens is None:
            places = standing = np.fromiter(self._prompt | self._written.keys(), np.int64)
        else:
            places = np.flatnonzero([self._stands(token) for token in tokens.tolist()])
            standing = tokens[places]
        times = np.array([self._written[token] for token in standing.tolist()], np.float64)
        lifted[places] = self._penalties.of(lifted[places], times)
        return lifted

    def _sample(self, scores: Scores, logprobs: np.ndarray, position: int, state: Legality) -> Chosen:
        sampling = self._sampling
        ids = np.flatnonzero(state.legal())
        lowered = self._lowered(logprobs, scores.logprob)
        heat = lowered[ids] / sampling.temperature
        kept = np.arange(len(ids))
        if sampling.top_k:
            kept = _highest(heat, sampling.top_k)
        if sampling.top_p < 1.0:
            kept = kept[_nucleus(heat[kept], sampling.top_p)]
        if sampling.min_p:
            kept = kept[heat[kept] >= heat[kept].max() + np.log(sampling.min_p)]
        return self._drawn(ids[kept], heat[kept], logprobs[ids[kept]], position)

    def _sample_from_top(self, scores: Scores, position: int, state: Legality) -> Chosen | None:
        """The same where the most probable tokens settle which can be sampled, however probable the others are."""
        sampling = self._sampling
        if not scores.top or not self._filters or not self._penalties.only_lower:
            return None
        tokens, logprobs = _arrays(scores)
        legal = state.legal()
        heat = self._lowered(logprobs, scores.logprob, tokens) / sampling.temperature
        others = _lifted(logprobs[-1], scores.logprob) / sampling.temperature
        allowed = legal[tokens]
        certain = np.flatnonzero(allowed & (heat > others))
        kept = certain[np.lexsort((tokens[certain], -heat[certain]))]
        if not len(kept) or len(kept) < sampling.top_k:
            return None
        weights = np.exp(heat - heat[kept[0]])
        least = most = float(weights[allowed].sum())
        if sampling.top_k:
            kept = kept[: sampling.top_k]
            least = most = float(weights[kept].sum())
        else:
            power = 1.0 / sampling.temperature
            rest = _most_outside(logprobs, len(legal) - len(tokens), power)
            most += float(rest * np.exp(power * _lifted(0.0, scores.logprob) - heat[kept[0]]))
        if sampling.top_p < 1.0:
            sums = np.cumsum(weights[kept])
            first, last = np.searchsorted(sums, (sampling.top_p * least, sampling.top_p * most)).tolist()
            if first != last or last >= len(kept):
                return None
            kept = kept[: first + 1]
        if sampling.min_p:
            lowest = heat[kept[0]] + np.log(sampling.min_p)
            if not sampling.top_k and sampling.top_p >= 1.0 and others >= lowest:
                return None
            kept = kept[heat[kept] >= lowest]
        return self._drawn(tokens[kept], heat[kept], logprobs[kept], position)

    def _drawn(
        self, tokens: NDArray[np.int64], heat: NDArray[np.float64], logprobs: np.ndarray, position: int
    ) -> Chosen:
        """One of some tokens."""
        place = int((heat + noise(self._sampling.seed, position, tokens)).argmax())
        return Chosen(int(tokens[place]), float(logprobs[place]))


def _arrays(scores: Scores) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The most probable tokens, and their log-probabilities."""
    tokens, logprobs = zip(*scores.top, strict=True)
    return np.array(tokens, np.int64), np.array(logprobs, np.float64)


def _lifted(logprobs: Any, highest: float) -> Any:
    """Log-probabilities on the level of logits."""
    return logprobs - highest + _LEVEL


def _most_outside(logprobs: NDArray[np.float64], count: int, power: float) -> float:
    """The most that the probabilities of `count` tokens, raised to `power`, add up to, those of all others known."""
    left = max(0.0, 1.0 - float(np.exp(logprobs).sum())) + 1e-6
    if power >= 1.0:
        return float(left * np.exp(logprobs[-1] * (power - 1.0)))
    return float(count ** (1.0 - power) * left**power)


def _highest(scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of the `count` highest scores, highest first, ties by lowest index."""
    count = min(count, len(scores))
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:count]]


def _nucleus(scores: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """Indices of the fewest highest scores whose probabilities add up to `share`, at least one."""
    weights = np.exp(scores - scores.max())
    wanted = share * weights.sum()
    for size in (*_SIZES, len(scores)):
        best = _highest(scores, size)
        sums = np.cumsum(weights[best])
        if sums[-1] >= wanted or size >= len(scores):
            return best[: int(np.searchsorted(sums, wanted)) + 1]
    return best
