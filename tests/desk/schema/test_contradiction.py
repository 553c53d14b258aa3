"""A schema that nothing satisfies is refused with the place and the keywords that exclude each other."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.prepare import prepare
from copydesk.errors import SchemaError


def holder(of: Any) -> Any:
    """An object with a required property, under which what is wrong stands."""
    return {"type": "object", "properties": {"a": of}, "required": ["a"]}


IN_A = "#/properties/a"


@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        (holder({"type": "integer", "minimum": 5, "maximum": 3}), IN_A, "minimum 5 and maximum 3 leave no integer"),
        (
            holder({"type": "integer", "minimum": 1, "maximum": 2, "multipleOf": 5}),
            IN_A,
            "minimum 1, maximum 2 and multipleOf 5 leave no integer",
        ),
        ({"type": "integer", "format": "uint8", "minimum": 300}, "#", "minimum 300 and format uint8 leave no integer"),
        (holder({"type": "string", "minLength": 3, "maxLength": 2}), IN_A, "minLength 3 and maxLength 2 leave no str"),
        (holder({"enum": []}), IN_A, "enum lists no value"),
        (holder({"enum": [1], "const": 2}), IN_A, "enum does not list const"),
        (holder({"type": "string", "enum": [1]}), IN_A, "no value of enum or const satisfies the rest"),
        (holder({"const": float("nan")}), IN_A, "no value of enum or const satisfies the rest"),
        (holder({"type": []}), IN_A, "type names no type"),
        (holder(False), "#", '"a" is required and forbidden'),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "#", '"a" is required and forbidden'),
        (False, "#", "false allows no value"),
        ({"not": {}}, "#", "not allows no value"),
        (holder({"allOf": [{"type": "string"}, {"type": "null"}]}), IN_A, "allOf allows no value"),
        (holder({"allOf": [{}, {"enum": []}]}), f"{IN_A}/allOf/1", "enum lists no value"),
        ({"type": "object", "if": {}, "then": False}, "#", "type and if exclude each other"),
        ({"anyOf": [False, {"enum": []}]}, "#/anyOf/0", "false allows no value"),
        (
            {"anyOf": [{"type": "integer", "minimum": 2, "maximum": 1}, {"type": "string", "enum": [1]}]},
            "#/anyOf/0",
            "minimum 2 and maximum 1 leave no integer; its other cases fail as well",
        ),
        (
            {"allOf": [holder({"type": "string"}), holder({"type": "null"})]},
            "#/allOf/0/properties/a",
            "what is asked for excludes what #/allOf/1/properties/a asks for",
        ),
        ({"type": "array", "items": {"enum": []}, "minItems": 10**8}, "#/items", "enum lists no value"),
        (
            {"type": "array", "prefixItems": [{"type": "null"}, {"enum": []}], "minItems": 2},
            "#/prefixItems/1",
            "enum lists no value",
        ),
        ({"type": "array", "minItems": 2, "maxItems": 1}, "#", "minItems 2 and maxItems 1 leave no array"),
        (
            {"type": "object", "required": ["a", "b"], "maxProperties": 1},
            "#",
            "maxProperties 1 and required leave no object",
        ),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"enum": []}}}, "#/$defs/x", "enum lists no value"),
        ({"$ref": "#"}, "#", r"$ref refers back without end"),
        (holder({"$ref": "#"}), IN_A, r"$ref refers back without end"),
    ],
)
def test_place_and_keywords_are_named(schema: Any, path: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        prepare(schema, Bounds(characters=128, items=64))
    assert caught.value.code == "invalid_schema"
    assert str(caught.value).startswith(f"Nothing satisfies the schema: at {path}, {reason}")
