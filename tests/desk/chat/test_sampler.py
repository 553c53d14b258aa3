"""Which token is chosen: penalties, temperature, legality, filters, in that order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from copydesk.desk.chat.sampler import Sampler, _highest, _nucleus
from copydesk.engines.protocol import Scores
from copydesk.types import Sampling

SIZE = 12


@dataclass
class Allowed:
    """Satisfies `Legality`."""

    tokens: frozenset[int] = frozenset(range(SIZE))

    def allows(self, token: int) -> bool:
        return token in self.tokens

    def legal(self) -> NDArray[np.bool_]:
        return np.array([token in self.tokens for token in range(SIZE)])


def row_of(logits: list[float]) -> np.ndarray:
    """Log-probabilities."""
    row = np.array(logits, np.float64)
    return (row - np.log(np.exp(row - row.max()).sum()) - row.max()).astype(np.float32)


def scores_of(row: np.ndarray, top: int = 0) -> Scores:
    order = np.argsort(-row, kind="stable")
    best = [(int(token), float(row[token])) for token in order[:top]]
    return Scores(int(order[0]), float(row[order[0]]), top=tuple(best))


def no_row() -> np.ndarray:
    raise AssertionError("the row was not needed")


rows = st.lists(st.floats(-8, 8, width=32), min_size=SIZE, max_size=SIZE).map(row_of)
legalities = st.frozensets(st.integers(0, SIZE - 1), min_size=1).map(Allowed)
lowering = st.builds(
    Sampling,
    repetition_penalty=st.sampled_from([1.0, 1.05, 1.3]),
    presence_penalty=st.sampled_from([0.0, 0.7]),
    frequency_penalty=st.sampled_from([0.0, 0.4]),
)
written = st.lists(st.integers(0, SIZE - 1), max_size=8)


def test_the_most_probable_legal_token_is_taken() -> None:
    row = row_of([0, 3, 2, *[0] * 9])
    sampler = Sampler(Sampling(), [])
    assert sampler.plain
    assert sampler.choose(scores_of(row), no_row, 0, Allowed()).token == 1
    chosen = sampler.choose(scores_of(row), lambda: row, 0, Allowed(frozenset({0, 2})))
    assert (chosen.token, chosen.logprob) == (2, float(row[2]))


@given(row=rows, state=legalities, sampling=lowering, prompt=written, reply=written)
def test_the_few_best_settle_it_as_all_do(
    row: np.ndarray, state: Allowed, sampling: Sampling, prompt: list[int], reply: list[int]
) -> None:
    sampler = Sampler(sampling, prompt)
    for token in reply:
        sampler.took(token)
    chosen = sampler.choose(scores_of(row, sampler.top), lambda: row, 0, state)
    lifted = row.astype(np.float64) - row.max() + 20.0
    for token in {*prompt, *reply} if sampling.repetition_penalty != 1.0 else set(reply):
        score = lifted[token]
        lifted[token] = score / sampling.repetition_penalty if score > 0 else score * sampling.repetition_penalty
    for token, times in Counter(reply).items():
        lifted[token] -= sampling.presence_penalty + sampling.frequency_penalty * times
    best = max(lifted[token] for token in state.tokens)
    assert state.allows(chosen.token)
    assert lifted[chosen.token] == pytest.approx(best, abs=1e-5)
    assert chosen.logprob == pytest.approx(float(row[chosen.token]), abs=1e-6)


def test_a_penalty_turns_a_sure_token_down() -> None:
    row = row_of([5, 4.9, *[0] * 10])
    for sampling in (
        Sampling(repetition_penalty=1.05),
        Sampling(presence_penalty=0.2),
        Sampling(frequency_penalty=0.2),
    ):
        sampler = Sampler(sampling, [])
        assert sampler.choose(scores_of(row, 8), no_row, 0, Allowed()).token == 0
        sampler.took(0)
        assert sampler.choose(scores_of(row, 8), no_row, 1, Allowed()).token == 1
    assert Sampler(Sampling(repetition_penalty=1.05), [0]).choose(scores_of(row, 8), no_row, 0, Allowed()).token == 1
    assert Sampler(Sampling(presence_penalty=0.2), [0]).choose(scores_of(row, 8), no_row, 0, Allowed()).token == 0


def test_what_is_encouraged_is_sought_among_all() -> None:
    row = row_of([5, 0, 4.9, *[0] * 9])
    sampler = Sampler(Sampling(presence_penalty=-0.5), [])
    sampler.took(2)
    assert sampler.top == 0
    assert sampler.choose(scores_of(row), lambda: row, 0, Allowed()).token == 2


def shares(sampling: Sampling, row: np.ndarray, state: Allowed | None = None, times: int = 4000) -> np.ndarray:
    """How often each token is sampled."""
    sampler = Sampler(sampling, [])
    found = [sampler.choose(scores_of(row), lambda: row, place, state or Allowed()).token for place in range(times)]
    return np.bincount(found, minlength=SIZE) / times


def test_samples_follow_the_probabilities() -> None:
    row = row_of([2, 1.5, 1, 0.5, *[-1] * 8])
    assert shares(Sampling(temperature=1.0), row) == pytest.approx(np.exp(row), abs=0.03)
    cold = np.exp(row / 0.5)
    assert shares(Sampling(temperature=0.5), row) == pytest.approx(cold / cold.sum(), abs=0.03)


def test_filters_come_after_legality() -> None:
    row = row_of([10, 1.2, 1, 0.8, *[-3] * 8])
    state = Allowed(frozenset(range(1, SIZE)))
    assert set(np.flatnonzero(shares(Sampling(temperature=1.0, top_k=2), row, state, 300))) == {1, 2}
    assert set(np.flatnonzero(shares(Sampling(temperature=1.0, top_p=0.5), row, state, 300))) == {1, 2}
    assert set(np.flatnonzero(shares(Sampling(temperature=1.0, min_p=0.5), row, state, 300))) == {1, 2, 3}
    assert set(np.flatnonzero(shares(Sampling(temperature=1.0, top_p=0.0), row, state, 50))) == {1}


@given(
    row=rows,
    state=legalities,
    sampling=st.builds(
        Sampling,
        temperature=st.sampled_from([0.3, 0.7, 1.0, 1.6]),
        top_p=st.sampled_from([1.0, 0.95, 0.5, 0.0]),
        top_k=st.sampled_from([0, 1, 3]),
        min_p=st.sampled_from([0.0, 0.05, 0.5]),
        repetition_penalty=st.sampled_from([1.0, 1.2]),
        seed=st.integers(0, 5),
    ),
    known=st.integers(1, SIZE),
    prompt=written,
)
def test_the_few_best_are_sampled_as_of_all(
    row: np.ndarray, state: Allowed, sampling: Sampling, known: int, prompt: list[int]
) -> None:
    sampler = Sampler(sampling, prompt)
    for position in range(5):
        of_all = sampler.choose(scores_of(row), lambda: row, position, state)
        of_few = sampler.choose(scores_of(row, known), lambda: row, position, state)
        assert of_few.token == of_all.token


def test_what_is_sampled_seldom_needs_all() -> None:
    row = row_of([9, 8.5, 8, 7, *[0] * 8])
    for sampling in (Sampling(temperature=0.6, top_p=0.9), Sampling(temperature=0.9, top_k=3)):
        sampler = Sampler(sampling, [])
        assert sampler.choose(scores_of(row, 5), no_row, 0, Allowed()).token < 4
    assert Sampler(Sampling(temperature=0.6, top_p=0.9), []).top > 0
    assert Sampler(Sampling(temperature=0.6), []).top == 0


def test_a_seed_holds_and_is_one_of_64_bits() -> None:
    row = row_of([1.0] * SIZE)
    draws = [[shares(Sampling(temperature=1.0, seed=seed), row, times=20).tolist()] for seed in (3, 3, 4, 2**64 - 1)]
    assert draws[0] == draws[1] != draws[2]


@given(scores=st.lists(st.floats(-5, 5), min_size=1, max_size=600).map(np.array), share=st.floats(0, 1))
def test_the_nucleus_is_the_fewest_that_make_up_a_share(scores: np.ndarray, share: float) -> None:
    kept = _nucleus(scores, share)
    weights = np.exp(scores - scores.max())
    total = weights.sum()
    assert weights[kept].sum() >= share * total * (1 - 1e-9) or len(kept) == len(scores)
    assert weights[kept[:-1]].sum() < share * total or len(kept) == 1
    assert set(kept) == set(_highest(scores, len(kept)))


def test_of_equals_the_lowest_are_the_highest() -> None:
    assert _highest(np.array([1.0, 2.0, 2.0, 1.0, 2.0]), 2).tolist() == [1, 2]
