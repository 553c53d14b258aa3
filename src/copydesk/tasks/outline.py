"""A schema in words a small model can read: keys with their types and descriptions, constraints left to the grammar.

Knows nothing of what may be asked for; a schema that makes no sense still gets some words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from copydesk.types import Json

_DEPTH = 4
_LONGEST_LINE = 2000
_LONGEST_LIST = 6000
"""Characters: a schema of thousands of lines must not fill the context."""
_MOST_LINES = _LONGEST_LIST // len('- "": value, optional\n')


def outline(schema: Json, *, noted: bool = True) -> str:
    """One line such as `{"name": string (who pays), "items": [{"price": number}]}`, at most 2,000 characters.

    Unless it is `noted`, descriptions are left out.
    """
    return _cut(_Words(schema).line(schema, _DEPTH, noted), _LONGEST_LINE)


def listing(schema: Json) -> str:
    """A line for each key, such as `- "name": string, required (who pays)`, those of objects in it indented below.

    At most 6,000 characters. What is no object is the one line of its outline.
    """
    lines = _Words(schema).keys(schema, _DEPTH)
    return _cut("\n".join(lines), _LONGEST_LIST) if lines else f"- {outline(schema)}"


class _Words:
    """The words for the parts of one schema. Each is found once, and no longer than it can be in the end: references
    may lead to the same parts over and over."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._lines: dict[tuple[int, int, bool], str] = {}
        self._keys: dict[tuple[int, int], list[str]] = {}
        self._kinds: dict[tuple[int, int], str] = {}

    def line(self, node: Any, depth: int, noted: bool) -> str:
        """A node in a line."""
        if not isinstance(node, Mapping) or depth == 0:
            return "value"
        place = (id(node), depth, noted)
        if place not in self._lines:
            kind = self._kind(_followed(node, self._root), depth, noted)
            self._lines[place] = (kind + (_note(node) if noted else ""))[: _LONGEST_LINE + 1]
        return self._lines[place]

    def keys(self, node: Any, depth: int) -> list[str]:
        """The lines of the keys of an object, of an array's items, or of what a value may be beside null."""
        if not isinstance(node, Mapping) or depth == 0:
            return []
        place = (id(node), depth)
        if place not in self._keys:
            self._keys[place] = list(islice(self._listed(_followed(node, self._root), depth), _MOST_LINES))
        return self._keys[place]

    def _listed(self, node: Mapping[str, Any], depth: int) -> Iterator[str]:
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            for inner in (node.get("items"), *_branches(node)):
                yield from self.keys(inner, depth - 1)
            return
        listed = node.get("required")
        required = listed if isinstance(listed, list) else []
        for name, field in properties.items():
            below = self.keys(field, depth - 1)
            kind = self._above(field, _DEPTH) if below else self.line(field, depth - 1, False)
            need = "required" if name in required else "optional"
            yield f"- {_literal(name)}: {kind}, {need}{_note(field)}"
            for line in below:
                yield f"  {line}"

    def _above(self, node: Any, depth: int) -> str:
        """What holds the keys that are listed below it."""
        if depth == 0:
            return "value"
        place = (id(node), depth)
        if place not in self._kinds:
            self._kinds[place] = self._kind_above(_followed(node, self._root), depth)
        return self._kinds[place]

    def _kind_above(self, node: Mapping[str, Any], depth: int) -> str:
        if "properties" in node:
            return "object"
        if isinstance(node.get("items"), Mapping):
            return f"array, each {self._above(node['items'], depth - 1)}"
        branches = dict.fromkeys(self._above(one, depth - 1) for one in _branches(node))
        return " | ".join(branches) or str(node.get("type", "value"))

    def _kind(self, node: Mapping[str, Any], depth: int, noted: bool) -> str:
        if "const" in node:
            return _literal(node["const"])
        if isinstance(node.get("enum"), list):
            return " | ".join(map(_literal, node["enum"]))
        if branches := _branches(node):
            return " | ".join(dict.fromkeys(self.line(branch, depth - 1, noted) for branch in branches))
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            pairs = (f"{_literal(name)}: {self.line(field, depth - 1, noted)}" for name, field in properties.items())
            return "{" + ", ".join(pairs) + "}"
        if "items" in node or node.get("type") == "array":
            return f"[{self.line(node.get('items'), depth - 1, noted)}]"
        kind = node.get("format") or node.get("type") or "value"
        return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _branches(node: Mapping[str, Any]) -> list[Any]:
    return next((found for key in ("anyOf", "oneOf") if isinstance(found := node.get(key), list)), [])


def _note(node: Any) -> str:
    described = node.get("description") if isinstance(node, Mapping) else None
    return f" ({' '.join(described.split())})" if isinstance(described, str) and described.strip() else ""


def _followed(node: Mapping[str, Any], root: Json) -> Mapping[str, Any]:
    """The schema that a local `$ref` names; a node whose reference leads nowhere stands for itself."""
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return node
    target: Any = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) and "$ref" not in target else node


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
