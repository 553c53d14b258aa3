"""What an answer looks like, read from a task's schema once: its keys, arrays and single values.

A drafter needs no more than this: constraints are the grammar's business, and a part that is not understood here is
`Unknown`, where drafts end. Never refuses a schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from copydesk.drafting.remembered import Remembered
from copydesk.types import Json, Task

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_DEEPEST = 8
"""Levels of objects, arrays and references; what lies deeper is unknown."""
_MOST = 5000
"""Parts of a schema that are read, each time that a reference leads to them; no draft is made of the rest."""
_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value."""

    kinds: frozenset[str]
    """JSON types: `string`, `number`, `integer`, `boolean`, `null`; `label` for one that is written bare."""
    choices: tuple[str, ...] = ()
    """The only values there are, as they are written; empty for no such limit."""
    format: str = ""
    """The schema's `format`, such as `date` or `email`."""

    def fits(self, text: str) -> bool:
        """Whether a value, as it is written, is of one of the kinds, or one of the choices."""
        if self.choices:
            return text in self.choices
        if text.startswith('"'):
            return "string" in self.kinds
        if text in ("true", "false", "null"):
            return ("null" if text == "null" else "boolean") in self.kinds
        if _NUMBER.fullmatch(text) is None:
            return False
        return "number" in self.kinds or ("integer" in self.kinds and "." not in text)


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    item: Shape
    least: int = 0
    most: int | None = None
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A property of an object."""

    name: str
    shape: Shape
    required: bool


@dataclass(frozen=True, slots=True)
class Record:
    """An object: its keys in the order in which an answer gives them."""

    keys: tuple[Key, ...]
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that no draft is made of."""


Shape = Leaf | Items | Record | Unknown


def _shape(task: Task) -> Shape:
    return Leaf(frozenset({"label"}), task.labels) if task.schema is None else read(task.schema.json)


_shapes = Remembered(_shape)


def shape_of(task: Task) -> Shape:
    """The shape of a task's answers."""
    return _shapes(task)


def read(schema: Json) -> Shape:
    """The shape that a JSON Schema describes."""
    return _read(schema, schema, _DEEPEST, iter(range(_MOST)))


def _read(node: Any, root: Json, depth: int, left: Iterator[int]) -> Shape:
    if not isinstance(node, Mapping) or depth == 0 or next(left, None) is None:
        return Unknown()
    node = _gathered(node, root)
    choices = _choices(node)
    if choices:
        return Leaf(frozenset(map(_kind, choices)), choices)
    branches = node.get("anyOf", node.get("oneOf"))
    if isinstance(branches, list):
        return _either([_read(branch, root, depth - 1, left) for branch in branches])
    kinds = _kinds(node)
    if kinds and kinds <= _SCALARS:
        found = node.get("format")
        return Leaf(kinds, format=found if isinstance(found, str) else "")
    nullable = "null" in kinds
    if kinds - {"null"} == {"object"}:
        return _record(node, root, depth, nullable, left)
    if kinds - {"null"} == {"array"} and not node.get("prefixItems"):
        least, most = node.get("minItems"), node.get("maxItems")
        item = _read(node.get("items"), root, depth - 1, left)
        return Items(item, _count(least) or 0, _count(most), nullable)
    return Unknown()


def _record(node: Mapping[str, Any], root: Json, depth: int, nullable: bool, left: Iterator[int]) -> Shape:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return Unknown()
    required = node.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    keys = (
        Key(name, _read(properties.get(name), root, depth - 1, left), name in names)
        for name in dict.fromkeys([*properties, *names])
        if properties.get(name) is not False
    )
    return Record(tuple(keys), nullable)


def _either(branches: list[Shape]) -> Shape:
    """One of several shapes: single values together, or one compound that may be null."""
    null = Leaf(frozenset({"null"}))
    others = [branch for branch in branches if branch != null]
    if len(others) == 1 and isinstance(others[0], Items):
        items = others[0]
        return Items(items.item, items.least, items.most, items.nullable or len(others) < len(branches))
    if len(others) == 1 and isinstance(others[0], Record):
        return Record(others[0].keys, others[0].nullable or len(others) < len(branches))
    leaves = [branch for branch in branches if isinstance(branch, Leaf)]
    if not leaves or len(leaves) < len(branches):
        return Unknown()
    kinds = frozenset[str]().union(*(leaf.kinds for leaf in leaves))
    listed = [leaf.choices or (("null",) if leaf == null else ()) for leaf in leaves]
    choices = tuple(dict.fromkeys(choice for choices in listed for choice in choices)) if all(listed) else ()
    return Leaf(kinds, choices, next((leaf.format for leaf in leaves if leaf.format), ""))


def _gathered(node: Mapping[str, Any], root: Json) -> Mapping[str, Any]:
    """A node with what it refers to: a local `$ref` and the parts of an `allOf`, to a small depth."""
    for _ in range(_DEEPEST):
        parts = [_followed(node["$ref"], root)] if "$ref" in node else []
        parts += node["allOf"] if isinstance(node.get("allOf"), list) else []
        if not parts:
            return node
        merged: dict[str, Any] = {}
        for part in (*parts, {key: value for key, value in node.items() if key not in ("$ref", "allOf")}):
            for key, value in part.items() if isinstance(part, Mapping) else ():
                held = merged.get(key)
                if key == "properties" and isinstance(held, Mapping) and isinstance(value, Mapping):
                    merged[key] = {**held, **value}
                elif key == "required" and isinstance(held, list) and isinstance(value, list):
                    merged[key] = held + value
                else:
                    merged[key] = value
        node = merged
    return {}


def _followed(reference: Any, root: Json) -> Any:
    target: Any = root
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        target = target.get(name) if isinstance(target, Mapping) else None
    return target


def _choices(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of an `enum` or `const` as JSON texts, if all of them are single ones."""
    listed = [node["const"]] if "const" in node else node.get("enum")
    if not isinstance(listed, list) or any(isinstance(value, list | dict) for value in listed):
        return ()
    return tuple(json.dumps(value, ensure_ascii=False) for value in listed)


def _kind(choice: str) -> str:
    return {'"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(choice[0], "number")


def _kinds(node: Mapping[str, Any]) -> frozenset[str]:
    said = node.get("type")
    if isinstance(said, str):
        return frozenset({said})
    if isinstance(said, list):
        return frozenset(kind for kind in said if isinstance(kind, str))
    implied = (("properties", "object"), ("items", "array"), ("pattern", "string"), ("format", "string"))
    return next((frozenset({kind}) for keyword, kind in implied if keyword in node), frozenset())


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
