"""Everything that a value must satisfy at once, gathered from a schema node and all that it refers to.

A node with `anyOf` or `oneOf` becomes several conjunctions, one a case. Knows how constraints intersect; nothing of
grammars or of how answers are bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from copydesk.desk.schema.document import FORBIDDEN, Node
from copydesk.desk.schema.expressions import found
from copydesk.desk.schema.keywords import LARGEST_COUNT, TYPES, types, unsupported

Nodes = tuple[Node, ...]
"""Schema nodes that hold at once."""

_HIGHEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Constraints of which a value satisfies all. An absent one is no constraint."""

    path: str
    types: frozenset[str] = frozenset(TYPES) - {"integer"}
    """`number` includes the integers."""
    choices: tuple[Any, ...] | None = None
    """The values that `enum` and `const` leave."""
    limits: Mapping[str, float] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    unique: bool = False
    properties: Mapping[str, Nodes] = field(default_factory=dict)
    shapes: Mapping[str, Nodes] = field(default_factory=dict)
    """`patternProperties`."""
    rest: Nodes | None = None
    """`additionalProperties`; None where it is not given."""
    names: Nodes = ()
    """`propertyNames`."""
    required: tuple[str, ...] = ()
    first: tuple[Nodes, ...] = ()
    """`prefixItems`."""
    items: Nodes = ()
    """Every item after the `first`."""

    @property
    def says_nothing(self) -> bool:
        """Whether every value satisfies it."""
        return self == Conjunction(self.path)

    def property(self, name: str) -> Nodes:
        """All that the value of a property must satisfy."""
        matching = [nodes for shape, nodes in self.shapes.items() if self._matches(shape, name)]
        if not matching and name not in self.properties:
            return self.rest or ()
        return _union(self.properties.get(name, ()), chain.from_iterable(matching))

    def _matches(self, shape: str, name: str) -> bool:
        try:
            return found(shape, name)
        except ValueError:
            raise unsupported(
                "patternProperties", self.path, f"{shape!r} is no regular expression that can be read here"
            ) from None

    def item(self, index: int) -> Nodes:
        """All that an item must satisfy."""
        return self.first[index] if index < len(self.first) else self.items

    def __and__(self, other: Conjunction) -> Conjunction:
        names = dict.fromkeys([*self.properties, *other.properties])
        length = max(len(self.first), len(other.first))
        return Conjunction(
            path=other.path if self.says_nothing else self.path,
            types=both_types(self.types, other.types),
            choices=_both_choices(self.choices, other.choices),
            limits=_both_limits(self.limits, other.limits),
            patterns=_union(self.patterns, other.patterns),
            formats=_union(self.formats, other.formats),
            unique=self.unique or other.unique,
            properties={name: _union(self.property(name), other.property(name)) for name in names},
            shapes=_both_shapes(self, other),
            rest=other.rest if self.rest is None else self.rest if other.rest is None else self.rest + other.rest,
            names=_union(self.names, other.names),
            required=_union(self.required, other.required),
            first=tuple(_union(self.item(index), other.item(index)) for index in range(length)),
            items=_union(self.items, other.items),
        )

    def without(self, name: str) -> Conjunction:
        """The same with a property forbidden."""
        return replace(self, properties={**self.properties, name: (FORBIDDEN,)})

    def holding(self, name: str, node: Node) -> Conjunction:
        """The same with a property required that satisfies `node` as well."""
        properties = {**self.properties, name: (*self.property(name), node)}
        return replace(self, properties=properties, required=_union(self.required, (name,)))


def own(node: Node) -> Conjunction:
    """What a node says itself, its applicators (`$ref`, `allOf`, `anyOf`, `oneOf`) left out."""
    schema: Mapping[str, Any] = node.schema
    listed = schema.get("items")
    first: tuple[Nodes, ...] = ()
    after = "items"
    if isinstance(listed, list):  # the tuples of drafts before 2020-12
        first = tuple((node.child("items", index),) for index in range(len(listed)))
        after = "additionalItems"
    elif "prefixItems" in schema:
        first = tuple((node.child("prefixItems", index),) for index in range(len(schema["prefixItems"])))
    return Conjunction(
        path=node.path,
        types=both_types(frozenset(types(schema)), frozenset(TYPES)),
        choices=_choices(schema),
        limits=_limits(schema),
        patterns=(schema["pattern"],) if "pattern" in schema else (),
        formats=(schema["format"],) if "format" in schema else (),
        unique=schema.get("uniqueItems") is True,
        properties={name: (node.child("properties", name),) for name in schema.get("properties", ())},
        shapes={shape: (node.child("patternProperties", shape),) for shape in schema.get("patternProperties", ())},
        rest=(node.child("additionalProperties"),) if "additionalProperties" in schema else None,
        names=(node.child("propertyNames"),) if "propertyNames" in schema else (),
        required=tuple(dict.fromkeys(schema.get("required", ()))),
        first=first,
        items=(node.child(after),) if after in schema else (),
    )


def type_of(value: Any) -> str:
    """The narrowest JSON type of a parsed value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if float(value).is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def both_types(left: AbstractSet[str], right: AbstractSet[str]) -> frozenset[str]:
    """The types of values that are in both sets: an integer is a number."""
    common = frozenset(left & right)
    for one, other in ((left, right), (right, left)):
        if "integer" in one and "number" in other:
            common |= {"integer"}
    return common - {"integer"} if "number" in common else common


def key(value: Any) -> str:
    """The same string for values that JSON Schema takes as equal: 1 is 1.0 but not true."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{json.dumps(name)}:{key(item)}" for name, item in value.items())) + "}"
    return "[" + ",".join(map(key, value)) + "]" if isinstance(value, list) else json.dumps(value)


def _choices(schema: Mapping[str, Any]) -> tuple[Any, ...] | None:
    enum = tuple(schema["enum"]) if "enum" in schema else None
    return _both_choices(enum, (schema["const"],) if "const" in schema else None)


def _both_choices(left: tuple[Any, ...] | None, right: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    if left is None or right is None:
        return right if left is None else left
    allowed = set(map(key, right))
    return tuple(value for value in left if key(value) in allowed)


def _limits(schema: Mapping[str, Any]) -> dict[str, float]:
    limits = {name: schema[name] for name in _LIMITS if name in schema and not isinstance(schema[name], bool)}
    for name in ("maxLength", "maxItems", "maxProperties"):
        if name in limits:
            limits[name] = min(limits[name], LARGEST_COUNT)
    for name, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(name) is True and inclusive in limits:  # draft 4
            limits[name] = limits.pop(inclusive)
    return limits


def _both_limits(left: Mapping[str, float], right: Mapping[str, float]) -> dict[str, float]:
    limits = {**left, **right}
    for name in left.keys() & right.keys():
        one, other = left[name], right[name]
        if name == "multipleOf" and float(one).is_integer() and float(other).is_integer():
            limits[name] = math.lcm(int(one), int(other))
        elif name != "multipleOf" or one == other:
            limits[name] = max(one, other) if name in _HIGHEST else min(one, other)
        else:
            limits[name] = math.nan  # refused where numbers are written
    return limits


def _both_shapes(left: Conjunction, right: Conjunction) -> dict[str, Nodes]:
    """Patterns of either side; what a key matches on one side only must satisfy the other side's rest as well."""
    shapes = {}
    for shape in dict.fromkeys([*left.shapes, *right.shapes]):
        nodes: Nodes = ()
        for side in (left, right):
            nodes += side.shapes.get(shape, side.rest or ())
        shapes[shape] = nodes
    return shapes


def _union(left: Iterable[Any], right: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys([*left, *right]))
