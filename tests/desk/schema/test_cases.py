"""References, `allOf`, `anyOf` and `oneOf` worked out into cases."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.schema.cases import Cases
from copydesk.desk.schema.conjunction import Conjunction
from copydesk.desk.schema.document import Document
from copydesk.errors import SchemaError


def cases(schema: Any, depth: int = 3) -> list[Conjunction]:
    document = Document(schema)
    return Cases(document, depth).of((document.root,))


def forbidden(case: Conjunction) -> set[str]:
    return {name for name, nodes in case.properties.items() if any(node.schema is False for node in nodes)}


def test_any_of_makes_a_case_of_each_branch_with_what_holds_anyway() -> None:
    found = cases({"maxLength": 3, "anyOf": [{"type": "string"}, {"minLength": 2, "type": "string"}]})
    assert [case.limits for case in found] == [{"maxLength": 3}, {"maxLength": 3, "minLength": 2}]


def test_a_branch_that_nothing_satisfies_is_no_case() -> None:
    assert len(cases({"type": "string", "anyOf": [{"type": "null"}, {"minLength": 2}, {"enum": []}, False]})) == 1


def test_all_of_multiplies_the_cases_of_its_parts() -> None:
    either = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    other = {"anyOf": [{"required": ["c"]}, {"required": ["d"]}]}
    assert [case.required for case in cases({"allOf": [either, other]})] == [
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
    ]


def test_too_many_cases_are_refused() -> None:
    part = {"anyOf": [{"required": [str(number)]} for number in range(40)]}
    with pytest.raises(SchemaError, match="anyOf"):
        cases({"allOf": [part, part]})


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "string"}, {"type": "null"}],
        [{"enum": ["a"]}, {"enum": ["b", "c"]}],
        [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 4}],
        [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 4}],
        [
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "more": {}}, "required": ["kind"]},
        ],
        [
            {"type": "object", "properties": {"deep": {"properties": {"is": {"const": 1}}, "required": ["is"],
                                                      "type": "object"}}, "required": ["deep"]},
            {"type": "object", "properties": {"deep": {"type": "object", "properties": {"is": {"const": 2}},
                                                       "required": ["is"]}}, "required": ["deep"]},
        ],
        [
            {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
            {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": False},
        ],
    ],
)  # fmt: skip
def test_branches_of_a_one_of_that_exclude_each_other_stay_as_they_are(branches: list[Any]) -> None:
    found = cases({"oneOf": branches})
    assert len(found) == len(branches)
    assert not any(map(forbidden, found))


def test_branches_are_kept_apart_by_leaving_a_key_out() -> None:
    properties = {name: {"type": "string"} for name in "abc"}
    schema = {"type": "object", "properties": properties, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    first, second = cases(schema)
    assert (forbidden(first), forbidden(second)) == ({"b"}, {"a"})


def test_a_choice_that_two_branches_share_belongs_to_neither() -> None:
    found = cases({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]})
    assert [case.choices for case in found] == [("a",), ("c",)]


def test_a_branch_is_kept_apart_from_the_others_as_they_were_written() -> None:
    assert cases({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"enum": ["c", "a"]}]}) == []


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "number"}, {"type": "integer"}],
        [{"type": "string"}, {"pattern": "^a", "type": "string"}],
        [{"required": ["a"], "type": "object"}, {"required": ["a", "b"], "type": "object"}],
    ],
)
def test_branches_that_overlap_are_refused(branches: list[Any]) -> None:
    with pytest.raises(SchemaError, match="oneOf"):
        cases({"oneOf": branches})


def test_a_dependency_makes_a_case_without_and_a_case_with() -> None:
    without, having = cases({"type": "object", "dependentRequired": {"card": ["address"]}})
    assert forbidden(without) == {"card"}
    assert having.required == ("card", "address")


def test_a_dependency_may_be_a_schema() -> None:
    schema = {"type": "object", "dependentSchemas": {"card": {"properties": {"address": {"type": "null"}}}}}
    _, having = cases(schema)
    assert having.required == ("card",)
    assert "address" in having.properties


def test_unevaluated_properties_are_those_of_no_schema_at_the_place() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "unevaluatedProperties": False}
    (case,) = cases(schema)
    assert set(case.properties) == {"a", "b"}
    assert case.rest is not None
    assert case.rest[0].schema is False


def test_recursion_is_followed_to_its_depth() -> None:
    schema = {"anyOf": [{"type": "null"}, {"$ref": "#"}]}
    assert len(cases(schema, depth=2)) == 3


def test_a_branch_that_another_contains_is_no_case() -> None:
    (case,) = cases({"type": ["string", "null"], "oneOf": [{"type": ["string", "null"]}, {"type": "null"}]})
    assert case.types == {"string"}
    assert cases({"oneOf": [{"type": "object"}, {"type": "object", "properties": {"a": {}}}]}) == []


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({"type": ["string", "null", "integer"], "not": {"type": ["null", "integer"]}}, [{"string"}]),
        ({"enum": [1, 2, 3], "not": {"enum": [2]}}, [(1, 3)]),
        ({"enum": [1, "x"], "not": {"type": "number"}}, [("x",)]),
        ({"type": "boolean", "not": {"const": True}}, [(False,)]),
        ({"type": "object", "not": {"required": ["a"]}}, ["a"]),
        ({"type": "null", "not": {}}, []),
    ],
)
def test_what_is_left_beside_a_not(schema: Any, left: list[Any]) -> None:
    found = cases(schema)
    assert [
        case.choices if isinstance(part, tuple) else case.types if isinstance(part, set) else forbidden(case).pop()
        for case, part in zip(found, left, strict=True)
    ] == left


def test_a_condition_makes_a_case_that_meets_it_and_one_that_does_not() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b", "c"]}},
        "if": {"properties": {"kind": {"const": "b"}}},
        "then": {"required": ["more"]},
        "else": {"required": ["less"]},
    }
    held, failed = cases(schema)
    assert held.required == ("more",)
    assert set(failed.required) == {"kind", "less"}
    assert failed.property("kind")[-1].schema == {"enum": ["a", "c"]}


@pytest.mark.parametrize("schema", [{"if": {"pattern": "a"}}, {"then": False}, {"else": False, "then": False}])
def test_a_condition_without_consequence_says_nothing(schema: Any) -> None:
    assert len(cases(schema)) == 1


def test_a_value_that_is_not_listed_cannot_be_excluded() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "not": {"properties": {"a": {"const": "x"}}}}
    with pytest.raises(SchemaError, match="not at #"):
        cases(schema)
