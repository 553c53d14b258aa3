"""Schemas in a line."""

from __future__ import annotations

import time
from typing import Any

import pytest

from copydesk.tasks.outline import listing, outline


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "string", "description": "  who\n pays "}, "string (who pays)"),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"const": "x"}, '"x"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "string | null"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "array", "items": {"type": "integer"}}, "[integer]"),
        ({"type": "array"}, "[value]"),
        (
            {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "number"}}},
            '{"a": number}',
        ),
        ({"$ref": "#/nowhere"}, "value"),
        (True, "value"),
    ],
)
def test_a_schema_in_a_line(schema: Any, line: str) -> None:
    assert outline(schema) == line


def test_recursion_ends() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    assert outline({"$ref": "#/$defs/node", "$defs": {"node": node}}).count("child") == 4


def test_a_long_schema_is_cut() -> None:
    line = outline({"properties": {f"field{number}": {"type": "string"} for number in range(1000)}})
    assert len(line) == 2000
    assert line.endswith("…")


def test_descriptions_can_be_left_out() -> None:
    schema = {"properties": {"a": {"type": "array", "items": {"type": "string", "description": "who"}}}}
    assert outline(schema) == '{"a": [string (who)]}'
    assert outline(schema, noted=False) == '{"a": [string]}'


def test_a_schema_as_a_list_of_its_keys() -> None:
    line = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}
    schema = {
        "properties": {
            "seller": {"type": "string", "description": "who is  paid"},
            "kind": {"enum": ["sale", "return", None]},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "description": "what is sold"},
            "buyer": {"anyOf": [{"type": "object", "properties": {"name": {"type": "string"}}}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["seller", "lines"],
        "$defs": {"line": line},
    }
    assert listing(schema).splitlines() == [
        '- "seller": string, required (who is paid)',
        '- "kind": "sale" | "return" | null, optional',
        '- "lines": array, each object, required (what is sold)',
        '  - "price": number, required',
        '- "buyer": object | null, optional',
        '  - "name": string, optional',
        '- "tags": [string], optional',
    ]


@pytest.mark.parametrize(
    "schema", [{"type": "string", "description": "a name"}, {"enum": ["a"]}, {}, True, {"properties": {}}]
)
def test_what_has_no_keys_is_listed_as_its_outline(schema: Any) -> None:
    assert listing(schema) == f"- {outline(schema)}"


def test_a_list_of_a_recursive_or_long_schema_ends() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    assert listing({"$ref": "#/$defs/node", "$defs": {"node": node}}).count("child") == 4
    assert len(listing({"properties": {f"field{number}": {"type": "string"} for number in range(1000)}})) == 6000


@pytest.mark.parametrize("form", ["properties", "anyOf"])
def test_references_that_multiply_take_no_time(form: str) -> None:
    names = [f"n{number}" for number in range(60)]
    to_all = [{"$ref": f"#/$defs/{name}"} for name in names]
    defs = {
        name: {"properties": dict(zip(names, to_all, strict=True))} if form == "properties" else {"anyOf": to_all}
        for name in names
    }
    schema = {"properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": defs}
    started = time.process_time()
    outline(schema)
    listing(schema)
    assert time.process_time() - started < 5
