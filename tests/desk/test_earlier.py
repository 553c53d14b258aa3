"""Conversations that the engine has read, taken up again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.earlier import Earlier, _common
from copydesk.engines.protocol import Read
from fake_engine import FakeEngine, hashed

LONG = tuple(range(1, 41))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(500, hashed(500))


def read(engine: FakeEngine, tokens: tuple[int, ...]) -> int:
    """A sequence that has read some tokens."""
    sequence = engine.open()
    engine.run([Read(sequence, tokens)])
    return sequence


def test_the_next_turn_begins_where_the_last_one_ended(engine: FakeEngine) -> None:
    earlier = Earlier(engine)
    sequence = read(engine, LONG)
    earlier.keep((*LONG, 99), sequence)
    assert earlier.take((*LONG, 50, 51), 0) == (sequence, 40)
    assert engine.length(sequence) == 40
    assert earlier.take((*LONG, 50, 51), 0) is None  # it has been taken


def test_a_conversation_that_went_another_way_is_cut_to_what_is_common(engine: FakeEngine) -> None:
    earlier = Earlier(engine)
    earlier.keep((*LONG, 7, 8), read(engine, (*LONG, 7, 8)))
    sequence, held = earlier.take((*LONG, 7, 9, 9), 0) or (0, 0)
    assert (held, engine.length(sequence)) == (41, 41)


def test_something_of_a_prompt_is_left_to_read(engine: FakeEngine) -> None:
    earlier = Earlier(engine)
    earlier.keep(LONG, read(engine, LONG))
    assert (earlier.take(LONG, 0) or (0, 0))[1] == len(LONG) - 1


@pytest.mark.parametrize(("prompt", "least"), [((*LONG[:10], 99), 0), ((*LONG, 99), 40), ((99,), 0)])
def test_what_is_not_worth_it_is_left(engine: FakeEngine, prompt: tuple[int, ...], least: int) -> None:
    earlier = Earlier(engine)
    earlier.keep(LONG, read(engine, LONG))
    assert earlier.take(prompt, least) is None


def test_those_longest_unused_are_given_up(engine: FakeEngine) -> None:
    earlier = Earlier(engine, most=2)
    for first in (101, 102, 103):
        earlier.keep((first, *LONG), read(engine, (first, *LONG)))
    assert engine.open_sequences == 2
    assert earlier.take((101, *LONG, 9), 0) is None
    small = Earlier(engine, most_tokens=50)
    for first in (101, 102):
        small.keep((first, *LONG), read(engine, (first, *LONG)))
    assert small.take((101, *LONG, 9), 0) is None
    assert small.take((102, *LONG, 9), 0)
    assert earlier.clear()
    assert not earlier.clear()


@given(st.lists(st.integers(0, 2), max_size=20), st.lists(st.integers(0, 2), max_size=20))
def test_the_common_beginning(left: list[int], right: list[int]) -> None:
    length = _common(tuple(left), tuple(right))
    assert left[:length] == right[:length]
    assert left[length : length + 1] != right[length : length + 1] or length in (len(left), len(right))
