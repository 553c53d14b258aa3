"""The way out of an answer."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings

from copydesk.desk.answer import parsed
from copydesk.desk.canonical import Canonical
from copydesk.desk.closing import Closing
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema.bounds import Bounds
from copydesk.errors import SchemaError
from copydesk.models.tokenizer import Tokenizer
from law_cases import cases

from .schemas import schemas


@pytest.fixture(scope="module")
def closing(tokenizer: Tokenizer, canonical: Canonical) -> Closing:
    return Closing(canonical, tokenizer.eos_token_ids[0], tokenizer.vocab_size)


def grammar(schema: Any, tokenizer: Tokenizer, canonical: Canonical) -> Grammar:
    return Grammar(schema, Bounds(128, 64), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)


@pytest.mark.parametrize(
    ("schema", "begun", "closed"),
    [
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "", "{}"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "", '{"a": ""}'),
        ({"type": "array", "items": {}}, "", "[]"),
        ({"type": "array", "items": {"type": "string"}}, '["x]', '["x]"]'),
        ({"type": "array", "items": {"type": "string"}}, '["x", "y', '["x", "y"]'),
        ({"type": "array", "items": {"type": "string"}}, '["x\\', '["x\\""]'),
        ({"type": "array", "items": {"type": "integer"}}, "[12", "[12]"),
        ({"type": "array", "items": {"type": "number"}}, "[1.", "[1.0]"),
        ({"anyOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]}, {"type": "null"}]}, "", "null"),
        ({"type": "string", "minLength": 3}, "", '"aaa"'),
        ({"type": "string", "pattern": "^[0-9]+$"}, '"7', '"7"'),
        ({"type": "string", "pattern": "^[a-z]*[0-9]$"}, '"zz', '"zz0"'),
        ({"type": "string", "enum": ["one", "other"]}, '"o', '"one"'),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "", "0.000000001"),
    ],
)
def test_the_way_out(
    tokenizer: Tokenizer, canonical: Canonical, closing: Closing, schema: Any, begun: str, closed: str
) -> None:
    state = grammar(schema, tokenizer, canonical).start()
    written = tokenizer.encode(begun) if begun else []
    assert all(map(state.accept, written))
    way_out = closing.of(state, written, 100)
    assert way_out is not None
    assert canonical.text([*written, *way_out]).decode() == closed
    assert closing.of(state, written, len(way_out)) == way_out
    assert closing.of(state, written, len(way_out) - 1) is None


def test_looking_for_the_way_out_changes_nothing(tokenizer: Tokenizer, canonical: Canonical, closing: Closing) -> None:
    state = grammar({"type": "array", "items": {"type": "string"}}, tokenizer, canonical).start()
    closing.of(state, [], 100)
    assert all(map(state.accept, tokenizer.encode('["x"]')))
    assert state.finished


@settings(max_examples=cases(150), deadline=None)
@given(schema=schemas)
def test_there_is_a_way_out_of_every_schema(
    tokenizer: Tokenizer, canonical: Canonical, closing: Closing, schema: Any
) -> None:
    try:
        state = grammar(schema, tokenizer, canonical).start()
    except SchemaError:
        assume(False)
    way_out = closing.of(state, [], 2000)
    assert way_out is not None
    jsonschema.Draft202012Validator(schema).validate(parsed(canonical.text(way_out).decode()))
