"""Objects: keys, their order, free keys, and how many."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.grammar import Grammar
from copydesk.desk.schema.bounds import Bounds
from copydesk.errors import SchemaError
from copydesk.models.tokenizer import Tokenizer

Accepts = Callable[[Any, Any], bool]
INTEGER = {"type": "integer"}


@pytest.fixture(scope="module")
def accepts(tokenizer: Tokenizer, canonical: Canonical) -> Accepts:
    """Whether a value, written in its own order, is an answer of a schema; what is one must validate."""

    def taken(schema: Any, value: Any) -> bool:
        grammar = Grammar(schema, Bounds(64, 4), tokenizer.grammar_tokenizer(tokenizer.vocab_size), canonical)
        state = grammar.start()
        found = all(map(state.accept, tokenizer.encode(json.dumps(value, ensure_ascii=False)))) and state.finished
        if found:
            jsonschema.Draft202012Validator(schema).validate(value)
        return found

    return taken


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (
            {"properties": {"a": INTEGER, "b": INTEGER}, "required": ["b"]},
            [{"a": 1, "b": 2}, {"b": 2}],
            [{"b": 2, "a": 1}, {"a": 1}, {}, {"b": 2, "c": 3}],
        ),
        ({"properties": {"a": INTEGER}, "additionalProperties": True}, [{}, {"a": 1}], [{"z": 1}]),
        (
            {"properties": {"a": INTEGER}, "additionalProperties": {"type": "null"}},
            [{}, {"a": 1, "z": None}, {"z": None, "y": None}],
            [{"z": 1}, {"z": None, "a": 1}],
        ),
        ({}, [{}, {"z": [1, {"y": None}]}], []),
        ({"additionalProperties": False}, [{}], [{"z": 1}]),
        ({"required": ["z"]}, [{"z": 1}, {"z": None, "y": 1}], [{}, {"y": 1}]),
        ({"additionalProperties": INTEGER}, [{"a": 1}, dict.fromkeys("abcd", 1)], [dict.fromkeys("abcde", 1)]),
        ({"additionalProperties": INTEGER, "maxProperties": 1}, [{}, {"a": 1}], [{"a": 1, "b": 2}]),
        ({"additionalProperties": INTEGER, "minProperties": 1}, [{"a": 1}], [{}]),
        (
            {"properties": {"a": INTEGER, "b": INTEGER}, "minProperties": 1},
            [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}],
            [{}],
        ),
        (
            {"properties": {"a": INTEGER, "b": INTEGER}, "maxProperties": 1},
            [{}, {"a": 1}, {"b": 1}],
            [{"a": 1, "b": 1}],
        ),
        ({"properties": {"a": INTEGER}, "required": ["a"], "minProperties": 1}, [{"a": 1}], [{}]),
        (
            {"patternProperties": {"^n_": INTEGER, "^s_": {"type": "null"}}, "additionalProperties": False},
            [{}, {"n_a": 1, "s_b": None}],
            [{"n_a": None}, {"x": 1}],
        ),
        (
            {"patternProperties": {"^x": False}, "additionalProperties": INTEGER},
            [{"a": 1, "b": 2}],
            [{"x": 1}, {"a": 1, "x" * 99: 2}],
        ),
        (
            {"properties": {"n_a": {"maximum": 5, "type": "integer"}}, "patternProperties": {"^n_": {"minimum": 3}}},
            [{"n_a": 4}],
            [{"n_a": 2}, {"n_a": 6}],
        ),
        (
            {"properties": {"a": False, "b": INTEGER}, "additionalProperties": INTEGER},
            [{"b": 1, "c": 2}],
            [{"a": 1}, {"b": 1, "a": 2}],
        ),
        (
            {"propertyNames": {"enum": ["x", "y"]}, "additionalProperties": INTEGER},
            [{}, {"x": 1}, {"x": 1, "y": 2}, {"y": 1}],
            [{"z": 1}, {"x": 1, "x ": 1}],
        ),
        (
            {"propertyNames": {"pattern": "^[a-c]+$"}, "additionalProperties": INTEGER},
            [{"abc": 1}],
            [{"d": 1}],
        ),
        ({"propertyNames": {"maxLength": 2}, "additionalProperties": INTEGER}, [{"ab": 1}], [{"abc": 1}]),
        (
            {"dependentRequired": {"a": ["b"]}, "properties": {"a": {}, "b": {}}},
            [{"b": 1}, {"a": 1, "b": 1}],
            [{"a": 1}],
        ),
    ],
)
def test_which_objects_are_answers(accepts: Accepts, schema: Any, right: list[Any], wrong: list[Any]) -> None:
    schema = {"type": "object", **schema}
    assert [value for value in right if not accepts(schema, value)] == []
    assert [value for value in wrong if accepts(schema, value)] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2},
        {"properties": {"a": {}, "b": {}, "c": {}}, "maxProperties": 2},
        {"properties": {"a": {}}, "additionalProperties": {"type": "null"}, "maxProperties": 2},
        {"additionalProperties": {}, "minProperties": 2},
    ],
)
def test_counts_that_cannot_be_held_to_are_refused(accepts: Accepts, schema: Any) -> None:
    with pytest.raises(SchemaError, match="Properties at #"):
        accepts({"type": "object", **schema}, {})


@pytest.mark.parametrize("value", [{}, False])
def test_a_key_that_may_match_two_patterns_is_refused(accepts: Accepts, value: Any) -> None:
    with pytest.raises(SchemaError, match="patternProperties at #"):
        accepts({"type": "object", "patternProperties": {"f.*": {}, "b.*": value}}, {})


def test_more_keys_asked_for_than_there_can_be() -> None:
    from copydesk.desk.schema.prepare import prepare

    for schema in ({"properties": {"a": {}}, "minProperties": 2}, {"required": ["a", "b"], "maxProperties": 1}):
        with pytest.raises(SchemaError) as caught:
            prepare({"type": "object", **schema}, Bounds(64, 4))
        assert caught.value.code == "invalid_schema"
