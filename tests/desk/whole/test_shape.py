"""Texts that are answers of a schema, and those that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from copydesk.desk.whole.shape import Shape, UnfitError, strict
from copydesk.errors import SchemaError
from copydesk.types import Json
from desk.schemas import schemas

PERSON: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


def test_a_fitting_text_in_any_layout() -> None:
    value = Shape(PERSON, {}).read(' {\n"age" :3,"name":"\\u5e02"}\n')
    assert json.dumps(value, ensure_ascii=False) == '{"name": "市", "age": 3}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"name": "a"} and so on', "Extra data"),
        ('{"name": "a"', "no JSON"),
        ("", "no JSON"),
        ('{"name": "a", "name": "b"}', "a key stands twice"),
        ('{"name": "a", "age": NaN}', "NaN is no number"),
        ('{"name": "a", "age": 1e999}', "too large"),
        ('{"name": "\\ud800"}', "surrogates"),
        ('{"name": 5}', "at $.name"),
        ('{"age": 3}', "'name' is a required property"),
        ('{"name": "a", "age": -1}', "minimum"),
        ("[" * 100_000, "no JSON"),
        ('{"age": ' + "9" * 5000 + "}", "no JSON"),
    ],
)
def test_what_does_not_fit(text: str, says: str) -> None:
    with pytest.raises(UnfitError) as raised:
        Shape(PERSON, {}).read(text)
    assert says in str(raised.value)


@pytest.mark.parametrize(("value", "fits"), [("2024-02-29", True), ("2023-02-29", False), ("soon", False)])
def test_formats_are_held_to(value: str, fits: bool) -> None:
    shape = Shape({"type": "string", "format": "date"}, {})
    if fits:
        assert shape.read(json.dumps(value)) == value
    else:
        with pytest.raises(UnfitError):
            shape.read(json.dumps(value))


def test_a_pattern_that_cannot_be_checked_is_told() -> None:
    with pytest.raises(SchemaError, match="pattern"):
        Shape({"type": "string", "pattern": "[[:alpha:]&&[^a]]+("}, {}).read('"x"')


@pytest.mark.parametrize(
    "schema", [{"type": "what"}, {"$ref": "http://elsewhere"}, {"contains": {}}, {"type": "string", "enum": []}]
)
def test_a_schema_that_cannot_be_honoured_is_refused(schema: Json) -> None:
    with pytest.raises(SchemaError):
        Shape(schema, {})


def test_what_is_sent_leaves_out_our_own_keyword_but_no_name() -> None:
    schema = {
        "type": "object",
        "properties": {
            "grounded": {"type": "string", "grounded": True},
            "items": {"type": "array", "items": {"type": "string", "grounded": "runs"}},
            "word": {"enum": [{"grounded": 1}]},
        },
        "required": ["grounded"],
    }
    sent = Shape(schema, {}).sent
    assert sent == {
        "type": "object",
        "properties": {
            "grounded": {"type": "string"},
            "items": {"type": "array", "items": {"type": "string"}},
            "word": {"enum": [{"grounded": 1}]},
        },
        "required": ["grounded"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]},
        {"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    ],
)
def test_objects_are_closed_only_where_their_properties_say_all(schema: Json) -> None:
    assert Shape(schema, {}).sent == schema


VALUES: list[Any] = ["a", 1, None, {}, [], {"a": 1}, ["市"], True, 0.5, {"name": ""}, {"kind": "a", "b": None}]


@given(schemas, st.sampled_from(VALUES))
def test_what_is_read_satisfies_the_schema(schema: Json, value: Any) -> None:
    try:
        shape = Shape(schema, {})
    except SchemaError:
        return
    fits = Draft202012Validator(schema).is_valid(value)
    try:
        assert shape.read(json.dumps(value)) == value
    except UnfitError:
        assert not fits or '"format"' in json.dumps(schema)
    else:
        assert fits


INNER: Json = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}
NESTED: Json = {
    "type": "object",
    "properties": {
        "list": {"type": "array", "items": {"$ref": "#/$defs/p"}},
        "one": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/p"}]},
    },
    "$defs": {"p": INNER},
}


def test_keys_in_the_schemas_order_at_every_depth() -> None:
    value = Shape(NESTED, {}).read('{"one": {"y": 1, "x": 2}, "list": [{"y": 3, "x": 4}]}')
    assert json.dumps(value) == '{"list": [{"x": 4, "y": 3}], "one": {"x": 2, "y": 1}}'


GROUNDED: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "grounded": True},
        "rest": {"type": "string", "grounded": "runs"},
        "tags": {"type": "array", "items": {"type": "string"}, "grounded": True},
        "free": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"name": "江雨桐", "rest": "长沙市189号", "tags": ["岳麓区"], "free": "anything"}, None),
        ({"name": "", "tags": []}, None),
        ({"name": "长沙市189号"}, ("name", "长沙市189号")),
        ({"rest": "189号长沙市江雨桐北京"}, ("rest", "189号长沙市江雨桐北京")),
        ({"tags": ["长沙市", "北京市"]}, ("tags[1]", "北京市")),
        ({"name": "１８９号"}, None),
    ],
)
def test_values_that_must_stand_in_the_text(value: Any, wrong: tuple[str, str] | None) -> None:
    assert Shape(GROUNDED, {}).ungrounded(value, "长沙市 岳麓区 189号 江雨桐") == wrong


def test_a_task_may_ground_more() -> None:
    assert Shape(PERSON, {"name": "run"}).ungrounded({"name": "z"}, "a text") == ("name", "z")
    assert Shape(PERSON, {}).ungrounded({"name": "z"}, "a text") is None


TEXTS = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(JSON)
def test_every_json_text_is_read(value: Any) -> None:
    assert strict(json.dumps(value)) == value
