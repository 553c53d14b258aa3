"""Which token goes in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from copydesk.desk.choosing import Choosing
from copydesk.engines.protocol import Scores


class Allowing:
    """A grammar that allows some tokens, whatever came before."""

    finished = False

    def __init__(self, *legal: int) -> None:
        self.legal = legal

    def forced(self) -> tuple[int, ...]:
        return ()

    def allows(self, token: int) -> bool:
        return token in self.legal

    def accept(self, token: int) -> bool:
        return self.allows(token)

    def rewind(self, count: int) -> None:
        pass

    def best(self, scores: np.ndarray) -> int:
        return max(self.legal, key=lambda token: (scores[token], -token))

    def copy(self) -> Allowing:
        return self


ROW = np.log(np.array([0.1, 0.2, 0.4, 0.3], dtype=np.float32))
SCORES = Scores(argmax=2, logprob=float(ROW[2]))


def no_row() -> np.ndarray:
    raise AssertionError("the row is not needed")


def test_the_models_own_choice_goes_in_without_a_look_at_the_row() -> None:
    chosen = Choosing().prefer(SCORES, no_row, 0).within(Allowing(0, 2))
    assert (chosen.token, chosen.logprob) == (2, SCORES.logprob)


def test_where_it_is_illegal_the_best_legal_one_goes_in_with_its_own_probability() -> None:
    chosen = Choosing().prefer(SCORES, lambda: ROW, 0).within(Allowing(0, 1))
    assert chosen.token == 1
    assert np.exp(chosen.logprob) == pytest.approx(0.2)


def test_sampling_depends_on_the_seed_and_the_position_only() -> None:
    def sample(seed: int, position: int) -> int:
        return Choosing(1.0, seed).prefer(SCORES, lambda: ROW, position).first.token

    assert [sample(1, position) for position in range(50)] == [sample(1, position) for position in range(50)]
    assert [sample(1, position) for position in range(50)] != [sample(2, position) for position in range(50)]


def test_samples_come_as_often_as_their_probability() -> None:
    counts = Counter(Choosing(1.0, 7).prefer(SCORES, lambda: ROW, position).first.token for position in range(4000))
    assert [counts[token] / 4000 for token in range(4)] == pytest.approx([0.1, 0.2, 0.4, 0.3], abs=0.03)


def test_a_sample_reports_the_models_probability_not_the_noise() -> None:
    for position in range(20):
        chosen = Choosing(0.8, 3).prefer(SCORES, lambda: ROW, position).within(Allowing(0, 1))
        assert chosen.token in (0, 1)
        assert chosen.logprob == pytest.approx(float(ROW[chosen.token]))


def test_a_low_temperature_takes_the_most_probable() -> None:
    tokens = {Choosing(0.01, 3).prefer(SCORES, lambda: ROW, position).first.token for position in range(100)}
    assert tokens == {2}


def test_a_temperature_near_zero_takes_the_most_probable_and_large_seeds_differ() -> None:
    row = np.log(np.array([0.2, 0.5, 0.3], dtype=np.float32))
    scores = Scores(argmax=1, logprob=float(row[1]))
    assert Choosing(temperature=1e-300).prefer(scores, lambda: row, 0).first.token == 1
    drawn = {
        seed: [Choosing(1.0, seed).prefer(scores, lambda: row, place).first.token for place in range(60)]
        for seed in (2**64 - 1, 2**64 - 2)
    }
    assert drawn[2**64 - 1] != drawn[2**64 - 2]
