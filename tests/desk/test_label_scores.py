"""What is read for labels, and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk.label_scores import LabelScores, choose, mass, shares
from copydesk.desk.scheduler import Branch
from copydesk.engines.openvino.engine import load
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.errors import SchemaError
from copydesk.models.tokenizer import Tokenizer
from fake_engine import FakeEngine, hashed
from law_cases import cases

PROMPT = (5, 6, 7)
LABELS = st.lists(st.text("ab1 ", min_size=1, max_size=6), min_size=1, max_size=12, unique=True)


def scored(engine: Engine, scores: LabelScores) -> list[float]:
    """The labels' log-probabilities after `PROMPT`, as the desk has them read."""
    sequence = engine.open()
    (found,) = engine.run([scores.read(sequence, PROMPT)])
    forks = [engine.fork(sequence) for _ in scores.branches]
    reads = [Read(fork, one.tokens, one.wanted) for fork, one in zip(forks, scores.branches, strict=True)]
    branches = engine.run(reads) if reads else []
    for opened in (sequence, *forks):
        engine.release(opened)
    return scores.logprobs([*found, *(score for read in branches for score in read)])


def written_alone(engine: Engine, tokens: Sequence[int]) -> float:
    """The log-probability of a label's tokens after `PROMPT`, one after the other, each from the start."""
    total = 0.0
    for length, token in enumerate(tokens):
        sequence = engine.open()
        wanted = Wanted(len(PROMPT) + length - 1, (token,))
        ((score,),) = engine.run([Read(sequence, (*PROMPT, *tokens[:length]), (wanted,))])
        engine.release(sequence)
        total += score.listed[0]
    return total


def whole(labels: Sequence[str], tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """The labels' tokens, an end token where another goes on."""
    tokens = [tuple(tokenizer.encode(label)) for label in labels]
    return [
        (*one, tokenizer.eos_token_ids[0]) if any(o != one and o[: len(one)] == one for o in tokens) else one
        for one in tokens
    ]


def test_labels_that_part_at_their_first_token_are_read_off_one_row(tokenizer: Tokenizer) -> None:
    labels = ["World", "Business", "Tech and more"]
    scores = LabelScores(labels, tokenizer)
    firsts = tuple(tokenizer.encode(label)[0] for label in labels)
    assert scores.branches == ()
    assert scores.read(3, PROMPT) == Read(3, PROMPT, (Wanted(2, firsts),))
    assert scores.logprobs([Scores(0, 0.0, (-1.0, -2.0, -3.0))]) == [-1.0, -2.0, -3.0]
    assert scores.sizes == tuple(len(tokenizer.encode(label)) for label in labels)


def test_what_all_labels_begin_with_is_read_with_the_prompt_and_scored_too(tokenizer: Tokenizer) -> None:
    labels = ["xx-a", "xx-b"]
    first, second = (tokenizer.encode(label) for label in labels)
    common = tuple(one for one, other in zip(first, second, strict=True) if one == other)
    read = LabelScores(labels, tokenizer).read(1, PROMPT)
    assert len(common) == len(first) - 1
    assert read.tokens == (*PROMPT, *common)
    assert [wanted.position for wanted in read.wanted] == list(range(2, 3 + len(common)))
    assert read.wanted[0].listed == (common[0],)
    assert read.wanted[-1].listed == (first[-1], second[-1])


def test_a_shared_beginning_is_scored_once(tokenizer: Tokenizer) -> None:
    labels = ["q1a", "q1b", "q2", "z"]
    written = [tuple(tokenizer.encode(label)) for label in labels]
    assert list(map(len, written)) == [3, 3, 2, 1]
    scores = LabelScores(labels, tokenizer)
    q, one = written[0][:2]
    assert scores.branches == (
        Branch((q, one), (Wanted(0, (one, written[2][1])), Wanted(1, (written[0][2], written[1][2])))),
    )
    assert scores.read(1, PROMPT).wanted == (Wanted(2, (q, written[3][0])),)


def test_each_branch_is_as_long_as_it_must_be_and_none_lies_within_another(tokenizer: Tokenizer) -> None:
    scores = LabelScores(["a1", "a11", "a1b", "ab", "b11"], tokenizer)
    branches = [branch.tokens for branch in scores.branches]
    assert len(branches) == len(set(branches))
    assert not any(one != other and other[: len(one)] == one for one in branches for other in branches)
    assert all(branch.wanted for branch in scores.branches)


@settings(deadline=None, max_examples=cases(150))
@given(labels=LABELS, seed=st.integers(0, 2**32), sharpness=st.sampled_from([0.1, 3.0, 30.0]))
def test_probabilities_are_those_of_each_label_written_alone(
    tokenizer: Tokenizer, labels: list[str], seed: int, sharpness: float
) -> None:
    size = tokenizer.vocab_size
    engine = FakeEngine(size, hashed(size, seed, sharpness=sharpness))
    scores = LabelScores(labels, tokenizer)
    found = scored(engine, scores)
    tokens = whole(labels, tokenizer)
    if not scores.branches:  # told by the token after what all begin with
        common = len(scores.read(0, PROMPT).tokens) - len(PROMPT)
        tokens = [one[: common + 1] for one in tokens]
    assert found == pytest.approx([written_alone(engine, one) for one in tokens], rel=1e-9)
    assert sum(shares(found)) == pytest.approx(1.0)
    assert mass(found) == pytest.approx(min(1.0, sum(map(math.exp, found))))
    assert mass(found) <= 1.0
    assert labels[choose(found, 0.0, 0)] == labels[found.index(max(found))]


def test_a_true_engine_says_the_same_of_labels_together_and_alone(tiny_model: Path, tokenizer: Tokenizer) -> None:
    labels = ["card arrival", "card linking", "card", "cash withdrawal", "cash", "top up failed", "top up by card"]
    scores = LabelScores(labels, tokenizer)
    assert len(scores.branches) > 2
    engine = load(tiny_model, exact=True)
    alone = [written_alone(engine, tokens) for tokens in whole(labels, tokenizer)]
    assert scored(engine, scores) == pytest.approx(alone, abs=1e-3)
    engine.close()


def test_labels_of_which_one_goes_on_from_another_close_with_the_end_token(tokenizer: Tokenizer) -> None:
    end = tokenizer.eos_token_ids[0]
    (branch,) = LabelScores(["1", "12", "z"], tokenizer).branches
    assert branch.wanted == (Wanted(0, (end, tokenizer.encode("12")[1])),)
    alone = LabelScores(["1", "12"], tokenizer)
    assert alone.branches == ()
    assert alone.read(1, PROMPT).wanted[-1].listed == branch.wanted[0].listed
    assert alone.sizes == (1, 2)


@pytest.mark.parametrize("labels", [["a", "a"], ["a", ""], [""]])
def test_labels_that_cannot_be_told_apart_are_refused(tokenizer: Tokenizer, labels: list[str]) -> None:
    with pytest.raises(SchemaError) as caught:
        LabelScores(labels, tokenizer)
    assert caught.value.code == "invalid_labels"


def test_a_single_label_is_scored_by_its_last_token_too(tokenizer: Tokenizer) -> None:
    size = tokenizer.vocab_size
    scores = LabelScores(["abc"], tokenizer)
    assert scores.branches == ()
    engine = FakeEngine(size, hashed(size))
    assert scored(engine, scores) == pytest.approx([written_alone(engine, tokenizer.encode("abc"))])


def test_labels_of_thousands_of_tokens_and_hundreds_of_labels(tokenizer: Tokenizer) -> None:
    long = LabelScores(["x y " * 3000, "x z", "w"], tokenizer)
    assert max(len(branch.tokens) for branch in long.branches) == max(long.sizes) - 1
    many = LabelScores([f"q{number}" for number in range(500)], tokenizer)
    assert len(many.branches) <= 500
    assert sum(len(one.listed) for branch in many.branches for one in branch.wanted) < 3 * 500


def test_vanishing_probabilities_still_make_shares() -> None:
    assert shares([-900.0, -900.0]) == [0.5, 0.5]
    assert mass([-900.0, -900.0]) == 0.0
    assert mass([0.0, -40.0]) == 1.0


def test_ties_go_to_the_first_label() -> None:
    assert choose([-2.0, -1.0, -1.0], 0.0, 0) == 1
    assert choose([-2.0, -1.0, -1.0], 1e-9, 0) == 1


def test_samples_hold_their_seed_and_follow_the_probabilities() -> None:
    logprobs = [math.log(0.6 * 0.01), math.log(0.4 * 0.01)]
    samples = [choose(logprobs, 1.0, seed) for seed in range(2000)]
    assert samples == [choose(logprobs, 1.0, seed) for seed in range(2000)]
    assert sum(samples) / 2000 == pytest.approx(0.4, abs=0.05)
    cold = [choose(logprobs, 0.05, seed) for seed in range(200)]
    assert sum(cold) / 200 < 0.02
