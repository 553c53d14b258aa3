"""How constraints intersect."""

from __future__ import annotations

import math
from typing import Any

import pytest

from copydesk.desk.schema.conjunction import Conjunction, both_types, key, own, type_of
from copydesk.desk.schema.document import Node
from copydesk.errors import SchemaError


def said(schema: Any, path: str = "#") -> Conjunction:
    return own(Node(schema, path))


def paths(nodes: Any) -> list[str]:
    return [node.path for node in nodes]


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ({"integer"}, {"number"}, {"integer"}),
        ({"number"}, {"number", "integer"}, {"number"}),
        ({"string", "null"}, {"null", "array"}, {"null"}),
        ({"string"}, {"null"}, set()),
    ],
)
def test_an_integer_is_a_number(left: set[str], right: set[str], both: set[str]) -> None:
    assert both_types(frozenset(left), frozenset(right)) == both


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_the_type_of_a_value(value: Any, kind: str) -> None:
    assert type_of(value) == kind


def test_values_are_equal_as_json_schema_has_it() -> None:
    assert key(1) == key(1.0)
    assert key(1) != key(True)
    assert key({"a": 1, "b": [2.0]}) == key({"b": [2], "a": 1})
    assert key([1, 2]) != key([2, 1])


def test_the_tighter_limit_holds() -> None:
    both = said({"minimum": 1, "maxLength": 9, "multipleOf": 4}) & said({"minimum": 3, "maxLength": 7, "multipleOf": 6})
    assert both.limits == {"minimum": 3, "maxLength": 7, "multipleOf": 12}


def test_fractions_have_no_common_multiple_here() -> None:
    both = said({"multipleOf": 0.5}) & said({"multipleOf": 3})
    assert math.isnan(both.limits["multipleOf"])


def test_draft_4_says_whether_a_limit_is_exclusive() -> None:
    assert said({"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False}).limits == {
        "exclusiveMinimum": 1,
        "maximum": 5,
    }


def test_the_choices_are_those_of_both_sides() -> None:
    assert (said({"enum": [1, "a", True]}) & said({"enum": [True, 1.0]})).choices == (1, True)
    assert said({"enum": [1, 2], "const": 2.0}).choices == (2,)


def test_a_property_must_satisfy_what_each_side_says_of_its_name() -> None:
    left = said({"properties": {"a": {}}, "additionalProperties": {}}, "#l")
    right = said({"patternProperties": {"^b": {}}, "properties": {"b": {}}}, "#r")
    both = left & right
    assert list(both.properties) == ["a", "b"]
    assert paths(both.property("a")) == ["#l/properties/a"]
    assert paths(both.property("b")) == [
        "#l/additionalProperties",
        "#r/properties/b",
        "#r/patternProperties/^b",
    ]
    assert paths(both.property("other")) == ["#l/additionalProperties"]


def test_items_must_satisfy_what_each_side_says_of_their_place() -> None:
    both = said({"prefixItems": [{}]}, "#l") & said({"items": {}}, "#r")
    assert paths(both.item(0)) == ["#l/prefixItems/0", "#r/items"]
    assert paths(both.item(1)) == ["#r/items"]


def test_a_pattern_that_cannot_be_compared_with_names_is_refused() -> None:
    with pytest.raises(SchemaError, match="patternProperties"):
        said({"patternProperties": {"(?=a)": {}}}).property("a")


def test_a_forbidden_property_is_satisfied_by_nothing() -> None:
    assert Conjunction("#").without("a").property("a")[0].schema is False


def test_where_one_side_says_nothing_the_place_is_the_others() -> None:
    assert (Conjunction("#") & said({"minimum": 1}, "#/a")).path == "#/a"
    assert (said({"minimum": 1}, "#/a") & said({"maximum": 1}, "#/b")).path == "#/a"
