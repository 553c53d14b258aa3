"""Label sets as grammars."""

from __future__ import annotations

import math

import numpy as np
import pytest

from copydesk.desk.choice import Choice
from copydesk.models.tokenizer import Tokenizer


def test_labels_that_differ_at_once_need_one_choice(tokenizer: Tokenizer) -> None:
    state = Choice(["World", "Sports", "Business"], tokenizer).start()
    assert state.forced() == ()
    assert list(state.listed) == [tokenizer.encode(label)[0] for label in ("World", "Sports", "Business")]
    assert state.accept(tokenizer.encode("Sports")[0])
    state.forced()
    assert state.finished


def test_a_common_beginning_is_forced(tokenizer: Tokenizer) -> None:
    choice = Choice(["xx-a", "xx-b"], tokenizer)
    state = choice.start()
    forced = state.forced()
    assert "xx-a".startswith(tokenizer.decode(forced))
    state.accept(state.listed[1])
    tokens = (*forced, choice_token(choice, forced, 1), *state.forced())
    assert choice.label(tokens) == "xx-b"


def choice_token(choice: Choice, path: tuple[int, ...], index: int) -> int:
    state = choice.start()
    for token in path:
        state.accept(token)
    return state.listed[index]


def test_a_label_that_begins_another_is_closed_by_the_end_token(tokenizer: Tokenizer) -> None:
    choice = Choice(["1", "12"], tokenizer)
    state = choice.start()
    forced = state.forced()
    end = tokenizer.eos_token_ids[0]
    assert not state.finished
    assert end in state.listed
    assert state.accept(end)
    assert state.finished
    assert choice.label((*forced, end)) == "1"


def test_only_labels_are_legal(tokenizer: Tokenizer) -> None:
    state = Choice(["World", "Sports"], tokenizer).start()
    other = tokenizer.encode("Business")[0]
    assert not state.allows(other)
    assert not state.accept(other)
    scores = np.zeros(tokenizer.vocab_size)
    assert state.best(scores) == min(state.listed)
    scores[max(state.listed)] = 1.0
    assert state.best(scores) == max(state.listed)


def test_rewind_and_copy(tokenizer: Tokenizer) -> None:
    state = Choice(["xx-a", "xx-b"], tokenizer).start()
    copy = state.copy()
    count = len(state.forced())
    state.accept(state.listed[0])
    state.rewind(count + 1)
    assert state.listed == copy.listed
    assert state.forced() == copy.forced()


def test_probabilities_are_shares_of_the_labels(tokenizer: Tokenizer) -> None:
    choice = Choice(["World", "Sports"], tokenizer)
    world, sports = choice.start().listed
    shares = choice.probabilities({(): {world: math.log(0.06), sports: math.log(0.02)}})
    assert shares == {"World": pytest.approx(0.75), "Sports": pytest.approx(0.25)}


def test_labels_past_an_unscored_fork_share_what_their_beginning_has(tokenizer: Tokenizer) -> None:
    choice = Choice(["q1", "q2", "World"], tokenizer)
    first, world = choice.start().listed
    shares = choice.probabilities({(): {first: math.log(0.5), world: math.log(0.5)}})
    assert shares == {"q1": 0.25, "q2": 0.25, "World": 0.5}
    one, two = choice_token(choice, (first,), 0), choice_token(choice, (first,), 1)
    scored = {(): {first: 0.0, world: 0.0}, (first,): {one: math.log(3), two: 0.0}}
    assert choice.probabilities(scored)["q1"] == pytest.approx(0.375)


def test_vanishing_probabilities_still_make_shares(tokenizer: Tokenizer) -> None:
    choice = Choice(["World", "Sports"], tokenizer)
    world, sports = choice.start().listed
    assert choice.probabilities({(): {world: -900.0, sports: -900.0}}) == {"World": 0.5, "Sports": 0.5}


def test_the_longest_label_is_known(tokenizer: Tokenizer) -> None:
    assert Choice(["a", "abc def"], tokenizer).longest == len(tokenizer.encode("abc def")) + 1


def test_a_label_of_thousands_of_tokens_has_a_probability(tokenizer: Tokenizer) -> None:
    choice = Choice(["x y " * 3000, "z"], tokenizer)
    scores = {(): dict.fromkeys(choice.start().listed, -1.0)}
    assert choice.probabilities(scores) == pytest.approx({"x y " * 3000: 0.5, "z": 0.5})
