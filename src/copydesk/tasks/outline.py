"""A schema in a line a small model can read: keys with their types and descriptions, constraints left to the grammar.

Knows nothing of what may be asked for; a schema that makes no sense still gets some line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from copydesk.types import Json

_DEPTH = 4
_LONGEST = 2000
"""Characters: a schema of thousands of lines must not fill the context."""


def outline(schema: Json) -> str:
    """One line such as `{"name": string (who pays), "items": [{"price": number}]}`, at most 2,000 characters."""
    line = _line(schema, schema, _DEPTH)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _line(node: Any, root: Json, depth: int) -> str:
    if not isinstance(node, Mapping) or depth == 0:
        return "value"
    described = node.get("description")
    note = f" ({' '.join(described.split())})" if isinstance(described, str) and described.strip() else ""
    return _kind(_followed(node, root), root, depth) + note


def _kind(node: Mapping[str, Any], root: Json, depth: int) -> str:
    if "const" in node:
        return _literal(node["const"])
    if isinstance(node.get("enum"), list):
        return " | ".join(map(_literal, node["enum"]))
    for keyword in ("anyOf", "oneOf"):
        branches = node.get(keyword)
        if isinstance(branches, list):
            return " | ".join(dict.fromkeys(_line(branch, root, depth - 1) for branch in branches))
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        pairs = (f"{_literal(name)}: {_line(field, root, depth - 1)}" for name, field in properties.items())
        return "{" + ", ".join(pairs) + "}"
    if "items" in node or node.get("type") == "array":
        return f"[{_line(node.get('items'), root, depth - 1)}]"
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
