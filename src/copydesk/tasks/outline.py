"""A schema in words a small model can read: keys with their types and descriptions, constraints left to the grammar.

Knows nothing of what may be asked for; a schema that makes no sense still gets some words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from copydesk.types import Json

_DEPTH = 4
_LONGEST_LINE = 2000
_LONGEST_LIST = 6000
"""Characters: a schema of thousands of lines must not fill the context."""


def outline(schema: Json, *, noted: bool = True) -> str:
    """One line such as `{"name": string (who pays), "items": [{"price": number}]}`, at most 2,000 characters.

    Unless it is `noted`, descriptions are left out.
    """
    return _cut(_line(schema, schema, _DEPTH, noted), _LONGEST_LINE)


def listing(schema: Json) -> str:
    """A line for each key, such as `- "name": string, required (who pays)`, those of objects in it indented below.

    At most 6,000 characters. What is no object is the one line of its outline.
    """
    lines = list(_keys(schema, schema, _DEPTH, ""))
    return _cut("\n".join(lines), _LONGEST_LIST) if lines else f"- {outline(schema)}"


def _keys(node: Any, root: Json, depth: int, indent: str) -> Iterator[str]:
    """The lines of the keys of an object, of an array's items, or of what a value may be beside null."""
    if not isinstance(node, Mapping) or depth == 0:
        return
    node = _followed(node, root)
    properties = node.get("properties")
    if not isinstance(properties, Mapping):
        for inner in (node.get("items"), *_branches(node)):
            yield from _keys(inner, root, depth - 1, indent)
        return
    listed = node.get("required")
    required = listed if isinstance(listed, list) else []
    for name, field in properties.items():
        below = list(_keys(field, root, depth - 1, indent + "  "))
        kind = _kind_above(field, root) if below else _line(field, root, depth - 1, False)
        need = "required" if name in required else "optional"
        yield f"{indent}- {_literal(name)}: {kind}, {need}{_note(field)}"
        yield from below


def _kind_above(node: Any, root: Json) -> str:
    """What holds the keys that are listed below it."""
    node = _followed(node, root)
    if "properties" in node:
        return "object"
    if isinstance(node.get("items"), Mapping):
        return f"array, each {_kind_above(node['items'], root)}"
    return " | ".join(dict.fromkeys(_kind_above(one, root) for one in _branches(node))) or str(
        node.get("type", "value")
    )


def _branches(node: Mapping[str, Any]) -> list[Any]:
    return next((found for key in ("anyOf", "oneOf") if isinstance(found := node.get(key), list)), [])


def _line(node: Any, root: Json, depth: int, noted: bool) -> str:
    if not isinstance(node, Mapping) or depth == 0:
        return "value"
    return _kind(_followed(node, root), root, depth, noted) + (_note(node) if noted else "")


def _note(node: Any) -> str:
    described = node.get("description") if isinstance(node, Mapping) else None
    return f" ({' '.join(described.split())})" if isinstance(described, str) and described.strip() else ""


def _kind(node: Mapping[str, Any], root: Json, depth: int, noted: bool) -> str:
    if "const" in node:
        return _literal(node["const"])
    if isinstance(node.get("enum"), list):
        return " | ".join(map(_literal, node["enum"]))
    if branches := _branches(node):
        return " | ".join(dict.fromkeys(_line(branch, root, depth - 1, noted) for branch in branches))
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        pairs = (f"{_literal(name)}: {_line(field, root, depth - 1, noted)}" for name, field in properties.items())
        return "{" + ", ".join(pairs) + "}"
    if "items" in node or node.get("type") == "array":
        return f"[{_line(node.get('items'), root, depth - 1, noted)}]"
    kind = node.get("format") or node.get("type") or "value"
    return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


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
