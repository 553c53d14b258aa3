"""The cases of a schema node: `$ref`, `allOf`, `anyOf` and `oneOf` worked out into plain conjunctions.

Of a `oneOf`, each case is narrowed until no value of it satisfies another case, or the schema is refused. Knows nothing
of grammars.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations

from copydesk.desk.schema.conjunction import Conjunction, Nodes, both_types, key, own, type_of
from copydesk.desk.schema.document import Document, Node
from copydesk.desk.schema.keywords import check, unsupported
from copydesk.desk.schema.scalars import refuse_unreadable

_MOST = 256
"""Cases of one node; a schema with more is refused."""
_DEEPEST = 4
"""How far down properties are compared to tell two cases of a `oneOf` apart."""


class Cases:
    """Works out the nodes of one document, to a fixed depth of recursion."""

    def __init__(self, document: Document, depth: int) -> None:
        """Nodes more than `depth` references into recursive definitions away are satisfied by nothing."""
        self._document = document
        self._depth = depth
        self._done: dict[Node, list[Conjunction]] = {}

    def of(self, nodes: Nodes) -> list[Conjunction]:
        """The cases of nodes that hold at once; none if nothing satisfies them. Every case has some type."""
        cases = [Conjunction(nodes[0].path if nodes else "#")]
        for node in nodes:
            cases = _product(cases, self._of_node(node))
        return cases

    def _of_node(self, node: Node) -> list[Conjunction]:
        if node not in self._done:
            self._done[node] = self._worked_out(node)
        return self._done[node]

    def _worked_out(self, node: Node) -> list[Conjunction]:
        check(node.schema, node.path)
        if node.schema is True:
            return [Conjunction(node.path)]
        if node.schema is False or node.depth > self._depth:
            return []
        schema = node.schema
        cases = [Conjunction(node.path)]
        said = own(node)
        refuse_unreadable(said)
        plain: list[Conjunction] | None = [said]
        for keyword in schema:  # in the order written, for that is the order of an answer's keys
            if keyword == "$ref":
                cases = _product(cases, self._of_node(self._document.follow(node)))
            elif keyword == "allOf":
                for index in range(len(schema["allOf"])):
                    cases = _product(cases, self._of_node(node.child("allOf", index)))
            elif keyword == "anyOf":
                branches = (self._of_node(node.child("anyOf", index)) for index in range(len(schema["anyOf"])))
                cases = _product(cases, [case for branch in branches for case in branch])
            elif keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
                for name in schema[keyword]:
                    cases = _product(cases, self._dependent(node.child(keyword, name), name))
            elif plain:
                cases, plain = _product(cases, plain), None
        if "oneOf" in schema:
            cases = self._one_of(cases, node)
        if "unevaluatedProperties" in schema:
            rest = (node.child("unevaluatedProperties"),)
            cases = [replace(case, rest=rest) if case.rest is None else case for case in cases]
        return cases

    def _dependent(self, node: Node, name: str) -> list[Conjunction]:
        """Either without a property, or with it and with what it asks for: other properties, or a schema."""
        present = Conjunction(node.path, types=frozenset({"object"}), required=(name,))
        if isinstance(node.schema, list):
            having = [replace(present, required=(name, *node.schema))]
        else:
            having = _product([present], self._of_node(node))
        return [Conjunction(node.path).without(name), *having]

    def _one_of(self, cases: list[Conjunction], node: Node) -> list[Conjunction]:
        branches = [
            [single for case in _product(cases, self._of_node(node.child("oneOf", index))) for single in _singles(case)]
            for index in range(len(node.schema["oneOf"]))
        ]
        whole = list(branches)
        for here, there in permutations(range(len(branches)), 2):
            for other in whole[there]:
                kept = [self._outside(case, other, _DEEPEST) for case in branches[here]]
                if None in kept:
                    raise unsupported(
                        "oneOf", node.path, "its cases overlap in a way that cannot be told apart; use anyOf"
                    )
                branches[here] = [case for case in kept if case is not None and case.choices != ()]
        return [case for branch in branches for case in branch]

    def _outside(self, case: Conjunction, other: Conjunction, depth: int) -> Conjunction | None:
        """`case`, narrowed so that no value of it satisfies `other`; None where that is not known to be possible.

        Both have one type. No choices left means that every value of `case` satisfies `other`.
        """
        if not both_types(case.types, other.types):
            return case
        if case.choices is not None:
            doubts = [_holds(value, other) for value in case.choices]
            if None in doubts:
                return None
            kept = tuple(value for value, holds in zip(case.choices, doubts, strict=True) if not holds)
            return case if len(kept) == len(doubts) else replace(case, choices=kept)
        if _ranges_apart(case, other):
            return case
        return self._object_outside(case, other, depth) if "object" in case.types else None

    def _object_outside(self, case: Conjunction, other: Conjunction, depth: int) -> Conjunction | None:
        missing = [name for name in other.required if name not in case.required]
        for name in (*case.required, *missing):
            if depth and self._apart(case.property(name), other.property(name), depth - 1):
                return case
        return case.without(missing[0]) if missing else None

    def _apart(self, nodes: Nodes, others: Nodes, depth: int) -> bool:
        """Whether no value that satisfies `nodes` is known to satisfy `others`."""
        left = [single for case in self.of(nodes) for single in _singles(case)]
        right = [single for case in self.of(others) for single in _singles(case)]
        return all(self._outside(case, other, depth) is case for case in left for other in right)


def _product(left: list[Conjunction], right: list[Conjunction]) -> list[Conjunction]:
    both = [one & other for one in left for other in right]
    satisfiable = [case for case in both if case.types and case.choices != ()]
    if len(satisfiable) > _MOST:
        raise unsupported("anyOf", satisfiable[0].path, f"it and what it is combined with make more than {_MOST} cases")
    return satisfiable


def _singles(case: Conjunction) -> Iterator[Conjunction]:
    """The case once for each of its types that has a value."""
    for kind in sorted(case.types):
        values = case.choices
        if values is not None:
            values = tuple(value for value in values if both_types(frozenset({type_of(value)}), frozenset({kind})))
        if values != ():
            yield replace(case, types=frozenset({kind}), choices=values)


def _holds(value: object, case: Conjunction) -> bool | None:
    """Whether a value satisfies a case; None where that is not known."""
    if not both_types(frozenset({type_of(value)}), case.types):
        return False
    if case.choices is not None and key(value) not in map(key, case.choices):
        return False
    if isinstance(value, str | list | dict):
        limited = any(case.limits) or case.patterns or case.formats or case.required or case.properties
        return None if limited or case.first or case.items or case.shapes or case.rest or case.names else True
    if value is None or isinstance(value, bool):
        return True
    return None if case.limits else True


def _ranges_apart(case: Conjunction, other: Conjunction) -> bool:
    """Whether the least that one allows is more than the most that the other allows."""
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        for low, high in pairwise((case, other, case)):
            if low.limits.get(least, float("-inf")) > high.limits.get(most, float("inf")):
                return True
    return False
