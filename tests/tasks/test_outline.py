"""Schemas in a line."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.tasks.outline import outline


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
