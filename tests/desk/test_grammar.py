"""JSON answers held to a schema, in one layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.grammar import Grammar, JsonState, check_installed
from copydesk.desk.schema.bounds import Bounds
from copydesk.errors import EngineError, SchemaError
from copydesk.models.tokenizer import Tokenizer

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
    "required": ["a", "b"],
}


@pytest.fixture
def start(tokenizer: Tokenizer, canonical: Canonical) -> JsonState:
    return begun(SCHEMA, tokenizer, canonical)


def begun(schema: Any, tokenizer: Tokenizer, canonical: Canonical) -> JsonState:
    return Grammar(schema, Bounds(128, 64), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical).start()


def accepted(state: JsonState, text: str, tokenizer: Tokenizer) -> bool:
    return all(map(state.accept, tokenizer.encode(text)))


@pytest.mark.parametrize("text", ['{"a": "x", "b": [1, 2]}', '{"a": "", "b": []}', '{"a": "\\t\\"", "b": [-3]}'])
def test_the_layout(start: JsonState, tokenizer: Tokenizer, text: str) -> None:
    assert accepted(start, text, tokenizer)
    assert start.finished


@pytest.mark.parametrize(
    "text",
    ['{ "a"', '{"a":"', '{"a": "x","b"', '{"b"', '{"a": "x", "b": [1,2', '{"a": "\\u0041', '{"a": "\n', "[", ' {"a"'],
)
def test_other_layouts_are_illegal(start: JsonState, tokenizer: Tokenizer, text: str) -> None:
    assert not accepted(start, text, tokenizer)


def test_forced_text_is_accepted_and_returned(start: JsonState, tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(start.forced()) == '{"a":'
    assert start.forced() == ()
    assert accepted(start, ' "x"', tokenizer)
    assert tokenizer.decode(start.forced()) == ', "b": ['


def test_the_end_is_forced_as_a_whole(start: JsonState, tokenizer: Tokenizer) -> None:
    assert accepted(start, '{"a": "", "b": []', tokenizer)
    assert tokenizer.decode(start.forced()) == "}"
    assert start.finished


def test_an_open_end_is_closed_by_the_end_token(tokenizer: Tokenizer, canonical: Canonical) -> None:
    state = begun({"type": "integer"}, tokenizer, canonical)
    assert accepted(state, "12", tokenizer)
    assert not state.finished
    assert state.accept(tokenizer.eos_token_ids[0])
    assert state.finished


def test_an_illegal_token_changes_nothing(start: JsonState, tokenizer: Tokenizer) -> None:
    start.forced()
    wrong = tokenizer.id_of("]")
    assert wrong is not None
    assert not start.allows(wrong)
    assert not start.accept(wrong)
    assert accepted(start, ' "x"', tokenizer)


def test_rewinding_leads_back_to_the_same_place(start: JsonState, tokenizer: Tokenizer) -> None:
    start.forced()
    scores = np.random.default_rng(1).normal(size=tokenizer.vocab_size)
    before = start.best(scores)
    tokens = tokenizer.encode(' "x", "b": []}')
    assert all(map(start.accept, tokens))
    start.rewind(len(tokens))
    assert not start.finished
    assert start.best(scores) == before
    assert all(map(start.accept, tokens))
    start.rewind(0)
    assert start.finished


def test_a_copy_goes_its_own_way(start: JsonState, tokenizer: Tokenizer) -> None:
    copy = start.copy()
    copy.forced()
    assert accepted(copy, ' "x', tokenizer)
    assert tokenizer.decode(start.forced()) == '{"a":'


def test_the_best_legal_token_is_the_one_of_the_highest_score_then_of_the_lowest_id(
    start: JsonState, tokenizer: Tokenizer
) -> None:
    assert accepted(start, '{"a": "", "b": [', tokenizer)
    legal = [token for token in range(tokenizer.vocab_size) if start.allows(token)]
    assert {tokenizer.decode([token])[0] for token in legal} == set("-0123456789]")
    scores = np.zeros(tokenizer.vocab_size, dtype=np.float32)
    assert start.best(scores) == legal[0]
    scores[legal[-1]] = 0.5
    scores[next(token for token in range(tokenizer.vocab_size) if token not in legal)] = 1.0
    assert start.best(scores) == legal[-1]


def test_control_tokens_in_a_text_are_text(start: JsonState, tokenizer: Tokenizer) -> None:
    assert not start.allows(tokenizer.eos_token_ids[0])
    assert accepted(start, '{"a": "<|im_end|>", "b": []}', tokenizer)


def test_a_schema_that_contradicts_itself_deep_down_is_invalid(tokenizer: Tokenizer, canonical: Canonical) -> None:
    with pytest.raises(SchemaError) as caught:
        begun({"type": "string", "pattern": "^a$", "minLength": 2}, tokenizer, canonical)
    assert caught.value.code == "invalid_schema"


def test_a_grammar_that_gives_up_midway_has_not_ended(tokenizer: Tokenizer, canonical: Canonical) -> None:
    schema = {"type": "string", "pattern": "^(.*a){20}$"}
    grammar = Grammar(schema, Bounds.of("x" * 200), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
    state, rng = grammar.start(), np.random.default_rng(0)

    def write() -> None:
        for _ in range(400):
            if state.finished:
                return
            state.accept(state.best(rng.random(tokenizer.vocab_size)))

    with pytest.raises(SchemaError, match="not supported"):
        write()


@pytest.mark.parametrize(("installed", "fits"), [("1.7.6", False), ("1.9.0", True), ("1.10.2", True), ("2.0", True)])
def test_an_older_version_is_told(installed: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("copydesk.desk.grammar.version", lambda name: installed)
    if fits:
        check_installed()
    else:
        with pytest.raises(EngineError, match=r"llguidance 1\.7\.6 is too old"):
            check_installed()
