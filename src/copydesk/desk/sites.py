"""Which strings of an answer are grounded: the places of a schema where one may stand, and what is declared of them.

A field is declared grounded by `"grounded": true` (one run of the text) or `"grounded": "runs"` (several in order)
beside its type; on an array it holds for the items. Knows nothing of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from copydesk.desk.runs import MOST_RUNS
from copydesk.desk.schema.document import Document, Node
from copydesk.desk.schema.keywords import invalid, types, unsupported
from copydesk.types import Grounding, Json

_ALTERNATIVES = ("anyOf", "oneOf")
_CONDITIONAL = ("if", "then", "else")


@dataclass(slots=True, eq=False)
class Site:
    """A place in answers. None stands for one at and below which nothing is grounded."""

    runs: int = 0
    """Runs that a string may have here; 0 if it is free."""
    least: int = 0
    """Characters that a string has at least."""
    members: dict[str, Site | None] = field(default_factory=dict)
    """Of an object, by key."""
    others: Site | None = None
    """Members of all other keys."""
    first: list[Site | None] = field(default_factory=list)
    """Of an array, the items that are described one by one."""
    items: Site | None = None
    """The items after those."""

    def member(self, key: str) -> Site | None:
        """The place of an object's member."""
        return self.members.get(key, self.others)

    def item(self, index: int) -> Site | None:
        """The place of an array's item."""
        return self.first[index] if index < len(self.first) else self.items


def site(schema: Json, grounded: Mapping[str, Grounding]) -> Site:
    """The place of the whole answer; `grounded` adds top-level fields to those that the schema declares.

    Errors: `SchemaError` where `grounded` stands beside what is neither a string nor an array of strings.
    """
    sites = _Sites(Document(schema))
    root = sites.of((Node(schema, "#"),)) or Site()
    for name, kind in grounded.items():
        if name in schema.get("properties", {}):
            root.members[name] = sites.of((Node(schema, "#").child("properties", name),), _runs(kind))
    return root


class _Sites:
    """Makes the places of one schema, each once, so that a recursive schema has finitely many."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._made: dict[tuple[frozenset[str], int], Site] = {}

    def of(self, nodes: tuple[Node, ...], inherited: int = 0) -> Site | None:
        """The place that some nodes describe together."""
        if not nodes:
            return None
        key = (frozenset(node.path for node in nodes), inherited)
        made = self._made.get(key)
        if made is not None:
            return made
        self._made[key] = made = Site()
        described = list(dict.fromkeys(self._described(nodes, certain=True)))
        declared = [runs for node, _ in described if (runs := self._declared(node))]
        runs = min(declared, default=inherited)
        texts = [node for node, _ in described if "string" in types(node.schema)]
        if runs and not any({"string", "array"} & {*types(node.schema)} for node, _ in described):
            raise unsupported("grounded", nodes[0].path, "only strings and arrays of strings can be grounded")
        made.runs = runs if texts else 0
        made.least = max((int(node.schema.get("minLength", 0)) for node, certain in described if certain), default=0)
        self._add_members(made, [node for node, _ in described])
        self._add_items(made, [node for node, _ in described], runs)
        return made

    def _add_members(self, made: Site, described: list[Node]) -> None:
        names = dict.fromkeys(name for node in described for name in node.schema.get("properties", {}))
        for name in names:
            made.members[name] = self.of(
                tuple(node.child("properties", name) for node in described if name in node.schema.get("properties", {}))
            )
        others = [
            node.child("patternProperties", pattern)
            for node in described
            for pattern in node.schema.get("patternProperties", {})
        ]
        made.others = self.of((*others, *_children(described, "additionalProperties")))

    def _add_items(self, made: Site, described: list[Node], runs: int) -> None:
        longest = max((len(node.schema.get("prefixItems", ())) for node in described), default=0)
        for index in range(longest):
            nodes = [node for node in described if index < len(node.schema.get("prefixItems", ()))]
            made.first.append(self.of(tuple(node.child("prefixItems", index) for node in nodes), runs))
        made.items = self.of(tuple(_children(described, "items")), runs)

    def _described(
        self, nodes: tuple[Node, ...], *, certain: bool, seen: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Node, bool]]:
        """The nodes that apply where `nodes` do, and whether they always do or are alternatives."""
        for node in nodes:
            schema = node.schema
            if not isinstance(schema, Mapping) or node.path in seen:
                continue
            yield node, certain
            around = seen | {node.path}
            if "$ref" in schema:
                yield from self._described((self._document.follow(node),), certain=certain, seen=around)
            every = [node.child("allOf", index) for index in range(len(schema.get("allOf", ())))]
            yield from self._described(tuple(every), certain=certain, seen=around)
            some = [node.child(name, index) for name in _ALTERNATIVES for index in range(len(schema.get(name, ())))]
            some += _children([node], *_CONDITIONAL)
            yield from self._described(tuple(some), certain=False, seen=around)

    def _declared(self, node: Node) -> int:
        declared = node.schema.get("grounded", False)
        if declared is False:
            return 0
        if declared is True:
            return 1
        if declared == "runs":
            return MOST_RUNS
        raise invalid('grounded is true, false or "runs"', node.path)


def _children(nodes: list[Node], *keywords: str) -> list[Node]:
    """The schemas under some keywords."""
    return [
        node.child(keyword) for node in nodes for keyword in keywords if isinstance(node.schema.get(keyword), Mapping)
    ]


def _runs(kind: Grounding) -> int:
    return MOST_RUNS if kind == "runs" else 1
