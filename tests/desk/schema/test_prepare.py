"""Schemas made ready for the grammar: what comes out, and what is refused by which name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llguidance import LLMatcher

from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.prepare import prepare
from copydesk.errors import SchemaError

BOUNDS = Bounds(characters=128, items=64)
STRING = {"type": "string", "maxLength": 128}


def prepared(schema: Any) -> Any:
    result = prepare(schema, BOUNDS)
    assert LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(result)) == ""
    return result


def test_a_plain_object_is_closed_and_its_strings_are_bounded() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Person",
        "type": "object",
        "properties": {"name": {"type": "string", "description": "whose"}, "nick": {"type": "string"}},
        "required": ["name"],
    }
    assert prepared(schema) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {"name": STRING, "nick": STRING},
        "required": ["name"],
    }


@pytest.mark.parametrize(
    ("schema", "result"),
    [
        ({"type": "string", "maxLength": 7}, {"type": "string", "maxLength": 7}),
        ({"type": "string", "maxLength": 10**12}, {"type": "string", "maxLength": 10**9}),
        ({"type": "string", "minLength": 300}, {"type": "string", "minLength": 300, "maxLength": 600}),
        ({"type": "boolean"}, {"type": "boolean"}),
        ({"const": 1.0}, {"enum": [1]}),
        ({"enum": ["a", 3], "type": "integer"}, {"enum": [3]}),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, STRING]}),
        ({"anyOf": [{"type": "string"}, {"type": "string"}]}, STRING),
        (
            {"type": "array", "items": {"type": "null"}},
            {"type": "array", "items": {"type": "null"}, "minItems": 0, "maxItems": 64},
        ),
        (
            {"type": "array", "items": [{"type": "null"}], "additionalItems": False},
            {"type": "array", "prefixItems": [{"type": "null"}], "items": False, "minItems": 0, "maxItems": 1},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "null"}, False, {"type": "null"}]},
            {"type": "array", "prefixItems": [{"type": "null"}], "items": False, "minItems": 0, "maxItems": 1},
        ),
        ({"allOf": [{"type": "string", "maxLength": 9}, {"maxLength": 5}]}, {"type": "string", "maxLength": 5}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}, "description": "none"}, {"type": "null"}),
        ({"$ref": "#/$defs/a%20b~1c", "$defs": {"a b/c": {"type": "null"}}}, {"type": "null"}),
        ({"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "null"}}}, {"type": "null"}),
        (
            {"$id": "https://x.y/z", "$ref": "https://x.y/z#/$defs/a", "$defs": {"a": {"type": "null"}}},
            {"type": "null"},
        ),
    ],
)
def test_what_comes_out(schema: Any, result: Any) -> None:
    assert prepared(schema) == result


def test_keys_stand_in_the_order_in_which_the_schema_gives_them() -> None:
    schema = {
        "allOf": [{"properties": {"first": {"type": "null"}}}],
        "type": "object",
        "properties": {"second": {"type": "null"}, "first": {}},
        "required": ["extra"],
    }
    assert list(prepared(schema)["properties"]) == ["first", "second", "extra"]


def test_a_value_of_which_nothing_is_said_is_bounded_in_depth() -> None:
    text = json.dumps(prepared({}))
    assert text.count('"array"') == 2
    assert "true" not in text


def test_a_part_that_stands_in_many_places_is_written_once() -> None:
    line = {"type": "object", "properties": {"x": {"type": "null"}}}
    schema = {
        "type": "object",
        "properties": {name: {"$ref": "#/$defs/line"} for name in "abc"},
        "$defs": {"line": line},
    }
    result = prepared(schema)
    assert result["properties"] == {name: {"$ref": "#/$defs/0"} for name in "abc"}
    assert list(result["$defs"]) == ["0"]


def test_data_that_stands_in_many_places_stays_where_it_is() -> None:
    value = {"properties": {"items": 1}}
    schema = {"type": "object", "properties": {name: {"enum": [value, None]} for name in "ab"}}
    assert json.dumps(prepared(schema)).count('{"items": 1}') == 2


def test_recursion_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "is": {"type": "null"}}, "required": ["is"]}
    result: Any = prepared(node)
    depth = 0
    while "next" in result["properties"]:
        result = result["properties"]["next"]
        depth += 1
    assert depth == 6


def test_recursion_through_many_branches_stays_small() -> None:
    optional = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
    node = {"type": "object", "properties": {f"child{number}": optional for number in range(12)}}
    assert len(json.dumps(prepared({"$ref": "#/$defs/node", "$defs": {"node": node}}))) < 10_000


def test_a_chain_longer_than_the_usual_depth_is_followed() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
    }
    assert prepared(node)["required"] == ["next"]


@pytest.mark.parametrize(
    ("schema", "keyword", "path"),
    [
        ({"type": "object", "properties": {"a": {"not": {"pattern": "x"}}}}, "not", "#/properties/a"),
        ({"items": {"if": {"minLength": 2}, "then": {"pattern": "x"}}}, "if", "#/items"),
        ({"contains": {"type": "null"}}, "contains", "#"),
        ({"anyOf": [{"type": "null"}, {"uniqueItems": True}]}, "uniqueItems", "#/anyOf/1"),
        ({"type": "number", "multipleOf": 0.01}, "multipleOf", "#"),
        ({"type": "string", "pattern": "(?=x)"}, "pattern", "#"),
        ({"type": "string", "format": "color"}, 'format "color"', "#"),
        ({"$ref": "other.json#/x"}, "$ref", "#"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf", "#"),
        ({"propertyNames": {"pattern": "a"}, "properties": {"b": {}}, "type": "object"}, "propertyNames", "#"),
        ({"minProperties": 3, "type": "object"}, "minProperties", "#"),
        ({"patternProperties": {"a": {}, "b": {}}, "type": "object"}, "patternProperties", "#"),
        ({"minimum": 10**19, "type": "integer"}, "minimum", "#"),
        ({"items": {"minLength": 10**12}}, "minLength", "#/items"),
        ({"enum": ["\x01"]}, "enum", "#"),
        ({"$dynamicRef": "#x"}, "$dynamicRef", "#"),
        ({"a/b": 1, "properties": {"a/b~c": {"contains": {}}}}, "contains", "#/properties/a~1b~0c"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name_and_place(schema: Any, keyword: str, path: str) -> None:
    with pytest.raises(SchemaError, match=r"not supported") as caught:
        prepare(schema, BOUNDS)
    assert caught.value.code == "unsupported_schema"
    assert f"The schema's {keyword} at {path} " in str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"type": "string", "enum": [1]},
        {"allOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "integer", "minimum": 3, "exclusiveMaximum": 3},
        {"type": "integer", "minimum": 1, "maximum": 2, "multipleOf": 5},
        {"type": "array", "items": False, "minItems": 1},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]},
        {"$ref": "#"},
        {"$ref": "#/$defs/missing"},
        {"type": "strnig"},
        {"properties": []},
        {"required": "a"},
        {"maxLength": "3"},
        {"minItems": -1},
        "a string",
    ],
)
def test_what_is_no_schema_or_satisfied_by_nothing_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        prepare(schema, BOUNDS)
    assert caught.value.code == "invalid_schema"


def test_what_no_answer_reaches_is_not_looked_at() -> None:
    schema = {"type": "null", "$defs": {"unused": {"not": {}, "$ref": "https://elsewhere"}}}
    assert prepared(schema) == {"type": "null"}
