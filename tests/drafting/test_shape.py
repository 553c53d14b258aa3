"""What is read of schemas."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.shape import Items, Key, Leaf, Record, Unknown, read, shape_of
from copydesk.types import Schema, Task

STRING = Leaf(frozenset({"string"}))


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": "string"}, STRING),
        ({"type": "string", "format": "date"}, Leaf(frozenset({"string"}), format="date")),
        ({"type": ["integer", "null"]}, Leaf(frozenset({"integer", "null"}))),
        ({"enum": ["a", 1, None]}, Leaf(frozenset({"string", "number", "null"}), ('"a"', "1", "null"))),
        ({"const": "市"}, Leaf(frozenset({"string"}), ('"市"',))),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, Leaf(frozenset({"string", "null"}), ('"a"', "null"))),
        ({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, STRING),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}, Items(STRING, 1, 3)),
        ({"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, Items(STRING, nullable=True)),
        ({"anyOf": [{"type": "object", "properties": {}}, {"type": "string"}]}, Unknown()),
        ({"type": "object"}, Unknown()),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, Unknown()),
        ({}, Unknown()),
    ],
)
def test_parts(schema: Any, shape: Any) -> None:
    assert read(schema) == shape


def test_keys_are_in_schema_order_and_undeclared_required_ones_last() -> None:
    shape = read({"type": "object", "properties": {"b": {"type": "string"}, "a": False}, "required": ["c", "b"]})
    assert shape == Record((Key("b", STRING, True), Key("c", Unknown(), True)))


def test_references_and_all_of_are_gathered() -> None:
    shape = read(
        {
            "$defs": {"name": {"type": "object", "properties": {"first": {"type": "string"}}, "required": ["first"]}},
            "allOf": [{"$ref": "#/$defs/name"}, {"properties": {"last": {"type": "string"}}}],
        }
    )
    assert shape == Record((Key("first", STRING, True), Key("last", STRING, False)))


def test_recursion_ends_in_the_unknown() -> None:
    shape = read({"type": "object", "properties": {"next": {"$ref": "#"}}})
    depth = 0
    while isinstance(shape, Record):
        depth, shape = depth + 1, shape.keys[0].shape
    assert (shape, depth > 2) == (Unknown(), True)
    assert read({"$ref": "#"}) == Unknown()


def test_what_references_multiply_without_end_is_left_alone() -> None:
    names = [f"n{number}" for number in range(20)]
    refer = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    shape = read({"$ref": "#/$defs/n0", "$defs": dict.fromkeys(names, refer)})
    assert isinstance(shape, Record)
    assert shape.keys[-1].shape == Unknown()


def test_labels_are_one_bare_value() -> None:
    task = Task("news", "Classify.", labels=("World", "Sports"))
    assert shape_of(task) == Leaf(frozenset({"label"}), ("World", "Sports"))


def test_a_task_is_read_once() -> None:
    task = Task("a", "b", Schema({"type": "object", "properties": {"x": {"type": "string"}}}))
    assert shape_of(task) is shape_of(task)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "enum", "anyOf", "items", "$ref", "allOf", "minItems"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "anyOf", "allOf", "enum"]), json_values))
def test_nothing_is_refused(schema: Any) -> None:
    assert isinstance(read(schema), Leaf | Items | Record | Unknown)
