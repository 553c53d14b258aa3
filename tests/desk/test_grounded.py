"""Answers that can only be filled from their text."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copydesk.desk.canonical import Canonical
from copydesk.desk.closing import Closing
from copydesk.desk.desk import Desk
from copydesk.desk.grammar import Grammar
from copydesk.desk.grounded import GroundedGrammar, Grounder, Vocabulary
from copydesk.desk.request import Request
from copydesk.desk.runs import MOST_RUNS
from copydesk.desk.schema.bounds import Bounds
from copydesk.errors import AnswerError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Schema, Task
from fake_engine import FakeEngine, hashed
from law_cases import cases

from .conftest import MakeDesk
from .test_runs import is_run

RUN = {"type": "string", "grounded": True}
SCHEMA = {
    "type": "object",
    "properties": {"free": {"type": "string", "maxLength": 3}, "name": RUN, "where": {**RUN, "grounded": "runs"}},
    "required": ["free", "name", "where"],
}
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(str.strip)
LAW = settings(max_examples=cases(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def task(schema: Any) -> Task:
    return Task("trial", "Extract.", Schema(schema))


def grounded(tokenizer: Tokenizer, canonical: Canonical, schema: Any, text: str) -> GroundedGrammar:
    grammar = Grammar(schema, Bounds(64, 32), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
    closing = Closing(canonical, tokenizer.eos_token_ids[0], tokenizer.vocab_size)
    made, _ = Grounder(tokenizer, closing).ground(task(schema), text, grammar, closing.shortest(grammar.start()))
    assert isinstance(made, GroundedGrammar)
    return made


def asked(tokenizer: Tokenizer, schema: Any, seed: int, text: str, **options: Any) -> Future[Answer[Any]]:
    engine = FakeEngine(tokenizer.vocab_size, hashed(tokenizer.vocab_size, seed))
    desk = Desk(engine, tokenizer, lambda task: render_prompt(task, tokenizer))
    future = desk.submit(Request(task(schema), text, **options))
    future.exception(60)
    desk.close()
    assert engine.open_sequences == 0
    return future


@LAW
@given(seed=st.integers(0, 2**32), text=TEXTS, temperature=st.sampled_from([0.0, 0.7]))
def test_whatever_the_model_says_grounded_values_are_runs_of_the_text(
    tokenizer: Tokenizer, seed: int, text: str, temperature: float
) -> None:
    value = asked(tokenizer, SCHEMA, seed, text, temperature=temperature).result().value
    assert is_run(text, value["name"])
    assert is_run(text, value["where"], MOST_RUNS)


@LAW
@given(seed=st.integers(0, 2**32), text=TEXTS, least=st.integers(1, 4))
def test_a_value_that_must_not_be_empty_is_found_or_the_answer_fails_by_name(
    tokenizer: Tokenizer, seed: int, text: str, least: int
) -> None:
    schema = {"type": "object", "properties": {"name": {**RUN, "minLength": least}}, "required": ["name"]}
    future = asked(tokenizer, schema, seed, text)
    if len(text) < least:
        error = future.exception()
        assert isinstance(error, AnswerError)
        assert error.code == "not_in_text"
    else:
        name = future.result().value["name"]
        assert len(name) >= least
        assert is_run(text, name)


@LAW
@given(seed=st.integers(0, 2**32), room=st.integers(28, 70))
def test_an_answer_closes_in_the_room_it_has(tokenizer: Tokenizer, seed: int, room: int) -> None:
    text = "天津市河西区 Pearl Road 21" * 4
    answer = asked(tokenizer, SCHEMA, seed, text, max_tokens=room).result()
    assert answer.usage.completion_tokens <= room
    assert is_run(text, answer.value["name"])


def test_a_pattern_that_the_text_cannot_fill_fails_by_name(make_desk: MakeDesk, tokenizer: Tokenizer) -> None:
    desk, _ = make_desk(hashed(tokenizer.vocab_size))
    schema = {"type": "object", "properties": {"n": {**RUN, "pattern": "^SF[0-9]+$"}}, "required": ["n"]}
    with pytest.raises(AnswerError, match="holds none that fits"):
        desk.submit(Request(task(schema), "no such number")).result(60)
    assert desk.submit(Request(task(schema), "SF1")).result(60).value == {"n": "SF1"}


def test_the_best_token_is_the_best_that_both_allow(tokenizer: Tokenizer, canonical: Canonical) -> None:
    state = grounded(tokenizer, canonical, SCHEMA, "天津市 foo").start()
    for token in tokenizer.encode('{"free": "", "name": "'):
        assert state.accept(token)
    scores = np.random.default_rng(0).normal(size=tokenizer.vocab_size).astype(np.float32)
    legal = [token for token in range(tokenizer.vocab_size) if state.allows(token)]
    assert state.best(scores) == max(legal, key=lambda token: (scores[token], -token))
    assert state.best(np.zeros_like(scores)) == min(legal)
    (unwanted,) = tokenizer.encode("x")
    assert not state.accept(unwanted)


def test_a_state_goes_back_and_is_copied(tokenizer: Tokenizer, canonical: Canonical) -> None:
    state = grounded(tokenizer, canonical, SCHEMA, "天津市").start()
    opening = tokenizer.encode('{"free": "", "name": "')
    for token in opening:
        state.accept(token)
    copy = state.copy()
    first, second = tokenizer.encode("天")[0], tokenizer.encode("津")[0]
    assert state.accept(first)
    assert not state.allows(first)
    state.rewind(1)
    assert state.accept(second)
    assert copy.allows(first)
    copy.rewind(len(opening))
    assert copy.accept(opening[0])


def test_only_what_is_declared_is_grounded(tokenizer: Tokenizer, canonical: Canonical) -> None:
    closing = Closing(canonical, tokenizer.eos_token_ids[0], tokenizer.vocab_size)
    grounder = Grounder(tokenizer, closing)
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    grammar = Grammar(schema, Bounds(64, 32), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
    shortest = closing.shortest(grammar.start())
    assert grounder.ground(task(schema), "text", grammar, shortest) == (grammar, shortest)
    made, _ = grounder.ground(Task("t", "i", Schema(schema), grounded={"a": "run"}), "text", grammar, shortest)
    assert isinstance(made, GroundedGrammar)


def test_tokens_are_found_by_the_character_they_begin_with(tokenizer: Tokenizer) -> None:
    vocabulary = Vocabulary(tokenizer)
    found = set(vocabulary.beginning(["天", "L"]).tolist())
    for token in range(tokenizer.vocab_size):
        text = tokenizer.token_bytes(token).decode(errors="replace") if token not in tokenizer.control_ids else ""
        if text.startswith(("天", "L", "Ｌ", '"', "\\", "\ufffd")):
            assert token in found
        elif text:
            assert token not in found


def test_values_are_as_json_reads_them(tokenizer: Tokenizer) -> None:
    text = 'a "b" \\c'
    value = asked(tokenizer, SCHEMA, 3, text).result().value
    assert json.loads(json.dumps(value)) == value
    assert is_run(text, value["where"], MOST_RUNS)
