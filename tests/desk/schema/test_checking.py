"""Values against schemas: as jsonschema has it, but never without end."""

from __future__ import annotations

import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from copydesk.desk.schema.checking import checker
from copydesk.types import Json

SCHEMAS: list[Json] = [
    {"type": "string", "pattern": "^a+b?$"},
    {"type": "string", "pattern": "[0-9]{3}"},
    {"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
    {"properties": {"a": {}}, "patternProperties": {"b$": {}}, "additionalProperties": {"type": "string"}},
    {"properties": {"a": {"type": "array", "items": {"pattern": "^z"}}}, "additionalProperties": False},
]
VALUES: list[Any] = [
    *("aab", "b", "x123", "12", "", 5, None),
    *(
        {"x1": 1},
        {"x1": "1"},
        {"y": 1},
        {"a": 1, "cb": 2},
        {"a": 1, "c": "d"},
        {"c": 1},
        {"a": ["z", "zz"]},
        {"a": ["y"]},
    ),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_values_are_right_or_wrong_as_jsonschema_has_it(schema: Json) -> None:
    for value in VALUES:
        assert checker(schema).is_valid(value) == Draft202012Validator(schema).is_valid(value), value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 60 + "!"),
        ({"patternProperties": {"^(a+)+$": {"type": "null"}}}, {"a" * 60 + "!": 1}),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {"a" * 60 + "!": 1}),
    ],
)
def test_no_expression_takes_for_ever(schema: Json, value: Any) -> None:
    started = time.process_time()
    checker(schema).is_valid(value)
    assert time.process_time() - started < 5


def test_an_expression_that_is_not_understood_is_an_error() -> None:
    with pytest.raises(ValueError, match="is not understood"):
        checker({"pattern": "("}).is_valid("x")
