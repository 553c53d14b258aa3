"""Why nothing satisfies a schema: the place where what is asked for excludes itself, and the keywords that do so.

Asked only once it is known that nothing does. Knows nothing of grammars.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from copydesk.desk.schema.cases import Cases
from copydesk.desk.schema.conjunction import Conjunction, Nodes, own
from copydesk.desk.schema.document import Node
from copydesk.errors import SchemaError
from copydesk.types import Json

_COMBINING = ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependencies", "dependentRequired", "dependentSchemas")
_OWN = ("type", "enum", "const")
_COUNTS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties", "required", "propertyNames"),
}
_RANGE = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_KINDS = ("object", "array", "string", "integer", "number")
"""In the order in which they are explained where several were possible."""


class Contradictions:
    """Explains the nodes of one document that nothing satisfies."""

    def __init__(self, cases: Cases, prepare: Callable[[Nodes], Json | None]) -> None:
        self._cases = cases
        self._prepare = prepare

    def error(self, root: Node) -> SchemaError:
        """The refusal of the whole schema."""
        path, reason = self._of((root,))
        return SchemaError(f"Nothing satisfies the schema: at {path}, {reason}.", code="invalid_schema")

    def _of(self, nodes: Nodes) -> tuple[str, str]:
        """Where and why nodes exclude each other, or themselves."""
        found = self._cases.of(nodes)
        if found:
            path, reason = self._of_case(found[0])
            return path, reason + ("; its other cases fail as well" if len(found) > 1 else "")
        for node in nodes:
            if not self._cases.of((node,)):
                return self._of_node(node)
        others = " and ".join(dict.fromkeys(node.path for node in nodes[1:]))
        return nodes[0].path, f"what is asked for excludes what {others} asks for"

    def _of_node(self, node: Node) -> tuple[str, str]:
        """Why a node by itself has no case."""
        if node.schema is False:
            return node.path, "false allows no value"
        if own(node).choices == ():
            return node.path, "enum lists no value" if "const" not in node.schema else "enum does not list const"
        if not own(node).types:
            return node.path, "type names no type"
        for part in self._parts(node):
            if self._cases.is_too_deep(part):
                return node.path, "$ref refers back without end"
            if not self._cases.of((part,)):
                return self._of_node(part)
        keywords = [keyword for keyword in (*_OWN, *_COMBINING) if keyword in node.schema]
        return node.path, _listed(keywords) + (" exclude each other" if len(keywords) > 1 else " allows no value")

    def _parts(self, node: Node) -> list[Node]:
        """Nodes that must have a case for `node` to have one; of `anyOf` the first, if none of its nodes has any."""
        parts = [self._cases.follow(node)] if "$ref" in node.schema else []
        parts += [node.child("allOf", index) for index in range(len(node.schema.get("allOf", ())))]
        for keyword in ("anyOf", "oneOf"):
            branches = [node.child(keyword, index) for index in range(len(node.schema.get(keyword, ())))]
            if not any(self._cases.of((branch,)) for branch in branches):
                parts += branches[:1]
        return parts

    def _of_case(self, case: Conjunction) -> tuple[str, str]:
        """Why a case has no value."""
        if case.choices is not None:
            return case.path, "no value of enum or const satisfies the rest"
        kind = next((kind for kind in _KINDS if kind in case.types), "")
        if kind == "object":
            for name in case.required:
                nodes = case.property(name)
                if any(node.schema is False for node in nodes):
                    return case.path, f"{json.dumps(name, ensure_ascii=False)} is required and forbidden"
                if nodes and self._prepare(nodes) is None:
                    return self._of(nodes)
        if kind == "array" and case.limits.get("minItems", 0) <= case.limits.get("maxItems", float("inf")):
            # Beyond the `first`, all items are alike.
            for index in range(min(int(case.limits.get("minItems", 0)), len(case.first) + 1)):
                nodes = case.item(index)
                if nodes and self._prepare(nodes) is None:
                    return self._of(nodes)
        limits = [f"{name} {case.limits[name]}" for name in _COUNTS.get(kind, _RANGE) if name in case.limits]
        limits += [name for name, said in (("required", case.required), ("propertyNames", case.names)) if said]
        limits += [f"format {name}" for name in case.formats]
        return case.path, f"{_listed(limits) or 'what is asked for'} leave no {kind}"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
