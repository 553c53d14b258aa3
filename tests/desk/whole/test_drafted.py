"""Answers by verified drafts are those that the engine would have written itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.drafting import Drafting
from copydesk.desk.request import Request
from copydesk.desk.whole.drafted import MOST_PASSES
from copydesk.desk.whole.record import Means, write_record
from copydesk.desk.whole.shape import Shape
from copydesk.desk.whole.worth import Worth
from copydesk.drafting.controller import Controller
from copydesk.engines.completions import Asked, Completion, Verified
from copydesk.errors import TextError
from copydesk.tasks.prompt import conversation
from copydesk.tasks.task import extraction
from copydesk.types import Answer, Draft, Task
from desk.whole.fake_completions import Verifying, written

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}},
    "required": ["a", "b", "c"],
}
TASK = extraction(SCHEMA)
TEXT = "some text"


def record(a: str, b: str, c: str) -> str:
    return json.dumps({"a": a, "b": b, "c": c}, ensure_ascii=False)


class Guess:
    """Drafters that guess one answer, and go on from what stands with what they have guessed of the rest."""

    def __init__(self, guess: str, go_on: Callable[[str, str], str | None] | None = None) -> None:
        self._guess = guess
        self._go_on = go_on
        self.learned: list[str] = []

    def draft(self, task: Task, text: str, so_far: str, expected: Any = None) -> Draft | None:
        if not so_far:
            return Draft(self._guess, "guess")
        rest = self._go_on(self._guess, so_far) if self._go_on else None
        return None if rest is None else Draft(so_far + rest, "guess")

    def verified(self, task: Task, text: str, answer: str) -> None:
        self.learned.append(answer)

    def close(self) -> None:
        pass


def answered(own: str, drafters: Guess, **options: Any) -> tuple[Answer[Any], Verifying]:
    engine = Verifying(lambda asked: own)
    drafting = Drafting(drafters, Controller())
    means = Means(engine, Shape(SCHEMA, {}), conversation, drafting, Worth())
    answer = asyncio.run(write_record(means, Request(TASK, TEXT, **options), 0.0))
    drafting.settle()
    drafting.close()
    return answer, engine


def in_place(guess: str, so_far: str) -> str:
    """The rest of the guess, from the same place on."""
    return guess[len(so_far) :]


def test_a_right_draft_is_the_answer_in_one_pass() -> None:
    right = record("x", "市", "z")
    drafters = Guess(right)
    answer, engine = answered(right, drafters)
    assert answer.value == json.loads(right)
    assert (answer.passes, answer.draft, answer.accepted, answer.verified) == (1, "guess", 1.0, True)
    assert answer.fields["b"].confidence == pytest.approx(2.718281828**-0.2)
    assert (engine.read, engine.asked) == ([right], [])
    assert drafters.learned == [right]


def test_a_wrong_draft_is_drafted_again_from_the_models_own_words_on() -> None:
    own, guess = record("x", "y", "z"), record("x", "q", "z")
    answer, engine = answered(own, Guess(guess, in_place))
    assert answer.value == json.loads(own)
    assert answer.passes == 2
    assert answer.accepted is not None
    assert 0.9 < answer.accepted < 1.0
    assert engine.read == [guess, own]
    assert engine.asked == []


def test_where_drafts_do_not_lead_to_it_the_engine_writes_the_answer() -> None:
    own = record("x", "y", "z")
    wrong = record("qqqq", "rrrr", "ssss")
    for drafters in (Guess(record("q", "y", "z")), Guess("{", in_place), Guess(wrong, in_place)):
        answer, engine = answered(own, drafters)
        assert answer.value == json.loads(own)
        assert (answer.passes, answer.draft) == (0, None)
        assert len(engine.read) <= MOST_PASSES
        assert len(engine.asked) == 1
        assert drafters.learned == [own]


def test_a_draft_that_stands_but_does_not_fit_is_no_answer() -> None:
    """The model would ramble if it were not held to the schema."""

    class Rambles(Verifying):
        async def complete(self, asked: Asked) -> Completion:
            return written(record("x", "y", "z"))

    engine = Rambles(lambda asked: "rambling")
    drafting = Drafting(Guess("rambling"), Controller())
    means = Means(engine, Shape(SCHEMA, {}), conversation, drafting, Worth())
    answer = asyncio.run(write_record(means, Request(TASK, TEXT), 0.0))
    drafting.close()
    assert answer.value == {"a": "x", "b": "y", "c": "z"}
    assert answer.draft is None


def test_a_draft_that_cannot_be_verified_is_no_matter() -> None:
    class Refuses(Verifying):
        async def verify(self, asked: Asked, draft: str) -> Verified:
            raise TextError("With the draft it does not fit.", code="too_long")

    right = record("x", "y", "z")
    drafting = Drafting(Guess(right), Controller())
    means = Means(Refuses(lambda asked: right), Shape(SCHEMA, {}), conversation, drafting, Worth())
    answer = asyncio.run(write_record(means, Request(TASK, TEXT), 0.0))
    drafting.close()
    assert (answer.value, answer.draft) == (json.loads(right), None)


def test_nothing_is_drafted_where_that_is_not_wanted() -> None:
    right = record("x", "y", "z")
    for options in ({"draft": False}, {"temperature": 0.5}):
        answer, engine = answered(right, Guess(right), **options)
        assert (answer.draft, engine.read) == (None, [])


def test_drafts_that_do_not_pay_are_left_out() -> None:
    right = record("x", "y", "z")
    engine, worth = Verifying(lambda asked: right), Worth()
    for _ in range(16):
        worth.verified(2.0, True)
        worth.written(1.0)
    drafting = Drafting(Guess(right), Controller())
    means = Means(engine, Shape(SCHEMA, {}), conversation, drafting, worth)
    asyncio.run(write_record(means, Request(TASK, TEXT), 0.0))
    drafting.close()
    assert engine.read == []


VALUES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Z")), max_size=6)
RECORDS = st.builds(record, VALUES, VALUES, VALUES)


@given(own=RECORDS, guess=RECORDS | st.text(max_size=20), again=st.booleans())
def test_a_draft_never_changes_an_answer(own: str, guess: str, again: bool) -> None:
    drafted, _ = answered(own, Guess(guess, in_place if again else None))
    alone, _ = answered(own, Guess(guess), draft=False)
    assert drafted.value == alone.value == json.loads(own)
    assert drafted.confidence == pytest.approx(alone.confidence, abs=1e-3)
    assert drafted.fields == alone.fields
