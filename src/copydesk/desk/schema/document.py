"""A schema document: its nodes with their paths, and where a `$ref` leads.

Knows no keyword but those that name and reach nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from copydesk.desk.schema.keywords import invalid, unsupported
from copydesk.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Node:
    """A schema within its document. Two are equal when they stand at the same place and depth."""

    schema: Any = field(compare=False)
    path: str
    """JSON pointer with a leading `#`."""
    depth: int = 0
    """How many references into recursive definitions led here."""

    def child(self, *steps: str | int) -> Node:
        """The node under some keywords, names or indices; they must exist."""
        schema: Any = self.schema
        for step in steps:
            schema = schema[step]
        return Node(schema, "/".join([self.path, *map(_escaped, steps)]), self.depth)


FORBIDDEN = Node(False, "")
"""What no value satisfies."""


class Document:
    """A whole schema, for looking up what its references name. References to other documents are refused."""

    def __init__(self, schema: Any) -> None:
        self.root = Node(schema, "#")
        self._recursive: dict[str, bool] = {}

    def follow(self, node: Node) -> Node:
        """The node that the `$ref` of `node` names, one deeper if the reference is part of a cycle."""
        path = self._resolved(node.schema["$ref"], node.path)
        target = self._at(path, node)
        return Node(target, path, node.depth + self._is_recursive(path, node))

    def _resolved(self, reference: str, path: str) -> str:
        """The JSON pointer that a reference means."""
        address, _, fragment = reference.partition("#")
        if address and address not in self._own_addresses():
            raise unsupported("$ref", path, f"copy what {reference} names into $defs and refer to that")
        fragment = unquote(fragment)
        if not fragment or fragment == "/":
            return "#"
        if fragment.startswith("/"):
            return f"#{fragment}"
        for anchored, anchor_path in _walk(self.root.schema, "#"):
            names = (anchored.get(key) for key in ("$anchor", "$dynamicAnchor", "$id", "id"))
            if fragment in [name.removeprefix("#") for name in names if isinstance(name, str)]:
                return anchor_path
        raise invalid(f"nothing is named by $ref {reference!r}", path)

    def _own_addresses(self) -> set[str]:
        schema = self.root.schema if isinstance(self.root.schema, Mapping) else {}
        return {str(schema[key]).rstrip("#") for key in ("$id", "id") if isinstance(schema.get(key), str)}

    def _at(self, path: str, origin: Node) -> Any:
        schema: Any = self.root.schema
        for step in path.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list) and key.isdigit() and int(key) < len(schema):
                schema = schema[int(key)]
            elif isinstance(schema, Mapping) and key in schema:
                schema = schema[key]
            else:
                raise invalid(f"$ref names {path}, which does not exist", origin.path)
        return schema

    def _is_recursive(self, path: str, origin: Node) -> bool:
        """Whether what `path` names refers, by however many steps, to itself."""
        if path not in self._recursive:
            seen: set[str] = set()
            waiting = [path]
            while waiting:
                for reference_path in self._references(waiting.pop(), origin):
                    if reference_path not in seen:
                        seen.add(reference_path)
                        waiting.append(reference_path)
            # A node inside the target reaches the target by a reference to any node around it, too.
            self._recursive[path] = any(path == other or path.startswith(f"{other}/") for other in seen)
        return self._recursive[path]

    def _references(self, path: str, origin: Node) -> Iterator[str]:
        for schema, at in _walk(self._at(path, origin), path):
            if isinstance(schema.get("$ref"), str):
                # What no answer can reach may refer to anything; what one can reach is followed, and refused, later.
                with suppress(SchemaError):
                    target = self._resolved(schema["$ref"], at)
                    self._at(target, origin)
                    yield target


def _walk(schema: Any, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every object in a schema, itself included, with its path. Not all of them are schemas."""
    if isinstance(schema, Mapping):
        yield schema, path
        for key, value in schema.items():
            yield from _walk(value, f"{path}/{_escaped(key)}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from _walk(value, f"{path}/{index}")


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
