"""Random JSON Schemas of the kinds that the desk honours, and some that it refuses."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Schemas = st.SearchStrategy[Any]

NAMES = st.sampled_from(["a", "b", "name", "市", 'q"uote', "sp ace", "x/y"])
_PATTERNS = st.sampled_from(["^[a-z]{2,4}$", "^[0-9]+$", "市", "^(foo|bar)", "[A-Z].$"])
_FORMATS = st.sampled_from(
    ["date", "date-time", "time", "email", "ipv4", "ipv6", "uuid", "uri", "hostname", "duration"]
)
_TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6)


@st.composite
def _strings(draw: st.DrawFn) -> Any:
    schema: dict[str, Any] = {"type": "string"}
    kind = draw(st.sampled_from(["free", "length", "pattern", "format", "both"]))
    if kind in ("length", "both"):
        least = draw(st.integers(0, 5))
        schema |= {"minLength": least, "maxLength": least + draw(st.integers(0, 6))}
    if kind in ("pattern", "both"):
        schema["pattern"] = draw(_PATTERNS)
    if kind == "format":
        schema["format"] = draw(_FORMATS)
    return schema | draw(st.sampled_from([{}, {}, {}, {"grounded": True}, {"grounded": "runs"}]))


@st.composite
def _numbers(draw: st.DrawFn) -> Any:
    schema: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    low = draw(st.integers(-1000, 1000))
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = low + draw(st.integers(0, 500)) / 4
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.integers(1, 7))
    return schema


_SCALARS = st.one_of(
    _strings(),
    _numbers(),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.builds(lambda values: {"enum": values}, st.lists(st.one_of(_TEXTS, st.integers(-9, 9), st.none()), min_size=1)),
    st.builds(lambda value: {"const": value}, st.one_of(_TEXTS, st.integers(-99, 99), st.booleans(), st.just(0.5))),
    st.just({"type": ["string", "null"], "maxLength": 5}),
)


def _compound(inner: Schemas) -> Schemas:
    properties = st.dictionaries(NAMES, inner, max_size=4)
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(_object, properties, st.sampled_from([None, False, True, {"type": "integer"}])),
        st.builds(_array, inner, st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))),
        st.builds(
            lambda items: {"prefixItems": items, "items": False, "type": "array"},
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda several: {"anyOf": several}, branches),
        st.builds(lambda several: {"oneOf": several}, branches),
        st.builds(_patterned, properties, inner, inner, st.sampled_from([None, False, {"type": "null"}])),
        st.builds(lambda objects: {"oneOf": objects}, st.lists(_tagged(inner), min_size=2, max_size=3)),
        st.builds(lambda schema, other: {"allOf": [schema], "not": other}, inner, _conditions),
        st.builds(_conditional, properties, _conditions, inner),
        st.builds(lambda several: {"allOf": several}, st.lists(inner, min_size=1, max_size=2)),
    )


_conditions: Schemas = st.one_of(
    st.builds(lambda name: {"required": [name]}, NAMES),
    st.builds(lambda name, value: {"properties": {name: {"const": value}}}, NAMES, st.sampled_from([1, True, "x"])),
    st.builds(lambda kind: {"type": kind}, st.sampled_from(["string", "integer", "null", "boolean"])),
    st.builds(lambda values: {"enum": values}, st.lists(st.integers(-3, 3), max_size=4)),
)


@st.composite
def _tagged(draw: st.DrawFn, inner: Schemas) -> Any:
    """An object with a tag that another one may share."""
    kind = {"enum": draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=2))}
    properties = {"kind": kind, draw(NAMES): draw(inner)}
    return {"type": "object", "properties": properties, "required": draw(st.sampled_from([["kind"], list(properties)]))}


def _patterned(properties: dict[str, Any], one: Any, other: Any, rest: Any) -> Any:
    schema: dict[str, Any] = {"type": "object", "patternProperties": {"^x": one, "^[ab]$": other}}
    schema |= {"properties": properties} if len(properties) > 1 else {}
    return schema if rest is None else {**schema, "additionalProperties": rest}


def _conditional(properties: dict[str, Any], condition: Any, then: Any) -> Any:
    values = {"x": {"enum": ["x", "y"]}, "name": {"enum": [1, True, "x", "z"]}}
    return {"type": "object", "properties": {**properties, **values}, "if": condition, "then": then, "else": {}}


def _object(properties: dict[str, Any], rest: Any) -> Any:
    names = list(properties)
    required = [name for number, name in enumerate(names) if (len(names) + number) % 2]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return schema if rest is None else {**schema, "additionalProperties": rest}


def _array(items: Any, least: int, more: int | None) -> Any:
    schema: dict[str, Any] = {"type": "array", "items": items, "minItems": least}
    return schema if more is None else {**schema, "maxItems": least + more}


@st.composite
def _recursive(draw: st.DrawFn) -> Any:
    """A tree whose nodes hold something, with its children optional or in an array."""
    leaf = draw(_SCALARS)
    child = draw(
        st.sampled_from(
            [
                {"type": "array", "items": {"$ref": "#/$defs/node"}},
                {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                {"$ref": "#/$defs/node"},
            ]
        )
    )
    node: dict[str, Any] = {"type": "object", "properties": {"is": leaf, "has": child}, "required": ["is"]}
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


schemas: Schemas = st.one_of(st.recursive(_SCALARS, _compound, max_leaves=6), _recursive())
