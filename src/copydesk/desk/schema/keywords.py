"""Which JSON Schema keywords are honoured, which only annotate, and which are refused by name.

Knows nothing of how the honoured ones become a grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copydesk.errors import SchemaError

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

REFUSED: Mapping[str, str] = {
    "contains": "describe the items with prefixItems or items",
    "minContains": "describe the items with prefixItems or items",
    "maxContains": "describe the items with prefixItems or items",
    "unevaluatedItems": "use items: false after prefixItems",
    "$dynamicRef": "use $ref",
    "$recursiveRef": "use $ref",
    "contentSchema": "describe the value itself instead of its encoding",
    "divisibleBy": "use multipleOf",
    "disallow": "list what is allowed instead",
    "extends": "use allOf",
}
"""Keywords that constrain an answer but cannot be held to, and what to write in their place."""

_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    "properties": Mapping,
    "patternProperties": Mapping,
    "dependencies": Mapping,
    "dependentRequired": Mapping,
    "dependentSchemas": Mapping,
    "required": list,
    "enum": list,
    "allOf": list,
    "anyOf": list,
    "oneOf": list,
    "prefixItems": list,
    "pattern": str,
    "format": str,
    "$ref": str,
}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
LARGEST_COUNT = 10**9
"""No answer is as long: a higher upper bound bounds nothing."""
_NUMBERS = ("minimum", "maximum", "multipleOf")


def check(schema: Any, path: str) -> None:
    """Raise `SchemaError` for a schema node that is malformed or holds a keyword that is refused. Not recursive."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise invalid(f"a schema is an object or true or false, not {_shown(schema)}", path)
    for keyword, remedy in REFUSED.items():
        if keyword in schema:
            raise unsupported(keyword, path, remedy)
    for keyword, shape in _SHAPES.items():
        if keyword in schema and not isinstance(schema[keyword], shape):
            raise invalid(f"{keyword} cannot be {_shown(schema[keyword])}", path)
    for keyword in _COUNTS:
        if keyword in schema and (not _is_number(schema[keyword]) or schema[keyword] < 0 or schema[keyword] % 1):
            raise invalid(f"{keyword} must be a whole number from 0 up, not {_shown(schema[keyword])}", path)
        if keyword.startswith("min") and schema.get(keyword, 0) > LARGEST_COUNT:
            raise unsupported(keyword, path, f"no answer is longer than {LARGEST_COUNT}")
    for keyword in _NUMBERS:
        if keyword in schema and not _is_number(schema[keyword]):
            raise invalid(f"{keyword} must be a number, not {_shown(schema[keyword])}", path)
    for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        if keyword in schema and not isinstance(schema[keyword], bool) and not _is_number(schema[keyword]):
            raise invalid(f"{keyword} must be a number, not {_shown(schema[keyword])}", path)
    for name in schema.get("required", []):
        if not isinstance(name, str):
            raise invalid(f"required lists names, not {_shown(name)}", path)
    for kind in types(schema):
        if kind not in TYPES:
            raise invalid(f"there is no type {_shown(kind)}; the types are {', '.join(TYPES)}", path)


def types(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """The types that a schema node names, all of them if it names none."""
    named = schema.get("type", TYPES)
    return tuple(named) if isinstance(named, list | tuple) else (named,)


def unsupported(keyword: str, path: str, remedy: str) -> SchemaError:
    """The refusal of a keyword that cannot be honoured; `path` is a JSON pointer to the node that holds it."""
    return SchemaError(f"The schema's {keyword} at {path} is not supported; {remedy}.", code="unsupported_schema")


def invalid(what: str, path: str) -> SchemaError:
    """The refusal of what is no JSON Schema."""
    return SchemaError(f"This is no JSON Schema: at {path}, {what}.", code="invalid_schema")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"
