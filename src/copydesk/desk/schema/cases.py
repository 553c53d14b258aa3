"""The cases of a schema node: `$ref`, `allOf`, `anyOf`, `oneOf`, `if` and `not` worked out into plain conjunctions.

Where a case must not satisfy another (in a `oneOf`, a `not`, an `else`), it is narrowed until no value of it does, or
the schema is refused. Knows nothing of grammars.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

from copydesk.desk.schema.conjunction import Conjunction, Nodes, both_types, key, own, type_of
from copydesk.desk.schema.document import Document, Node
from copydesk.desk.schema.keywords import check, unsupported
from copydesk.desk.schema.scalars import refuse_unreadable

_MOST = 1024
"""Cases of one node; a schema with more is refused."""
_FEW: Mapping[str, tuple[Any, ...]] = {"null": (None,), "boolean": (False, True)}
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

    def follow(self, node: Node) -> Node:
        """The node that a node's `$ref` names."""
        return self._document.follow(node)

    def is_too_deep(self, node: Node) -> bool:
        """Whether a node lies so far into recursive definitions that it is given up."""
        return node.depth > self._depth

    def _of_node(self, node: Node) -> list[Conjunction]:
        if node not in self._done:
            self._done[node] = self._worked_out(node)
        return self._done[node]

    def _worked_out(self, node: Node) -> list[Conjunction]:
        check(node.schema, node.path)
        if node.schema is True:
            return [Conjunction(node.path)]
        if node.schema is False or self.is_too_deep(node):
            return []
        schema = node.schema
        cases = [Conjunction(node.path)]
        said = own(node)
        refuse_unreadable(said)
        plain: list[Conjunction] | None = [said]
        for keyword in schema:  # in the order written, for that is the order of an answer's keys
            if keyword == "$ref":
                cases = _product(cases, self._of_node(self.follow(node)))
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
        if "not" in schema:
            cases = self._except(cases, node, "not")
        if "if" in schema and ("then" in schema or "else" in schema):
            cases = self._conditional(cases, node)
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
            _singles(_product(cases, self._of_node(node.child("oneOf", index))))
            for index in range(len(node.schema["oneOf"]))
        ]
        whole = list(branches)
        for here, there in permutations(range(len(branches)), 2):
            branches[here] = self._all_outside(branches[here], whole[there], node, "oneOf")
        return [case for branch in branches for case in branch]

    def _conditional(self, cases: list[Conjunction], node: Node) -> list[Conjunction]:
        held = _product(cases, self._of_node(node.child("if")))
        if "then" in node.schema:
            held = _product(held, self._of_node(node.child("then")))
        failed = self._except(cases, node, "if")
        if "else" in node.schema:
            failed = _product(failed, self._of_node(node.child("else")))
        return held + failed

    def _except(self, cases: list[Conjunction], node: Node, keyword: str) -> list[Conjunction]:
        """The cases narrowed to values that do not satisfy the schema under a keyword."""
        return self._all_outside(_singles(cases), _singles(self._of_node(node.child(keyword))), node, keyword)

    def _all_outside(
        self, cases: list[Conjunction], others: list[Conjunction], node: Node, keyword: str
    ) -> list[Conjunction]:
        for other in others:
            kept = [self._outside(case, other, _DEEPEST) for case in cases]
            if None in kept:
                raise unsupported(
                    keyword, node.path, "what must be told apart overlaps; write the cases out with anyOf instead"
                )
            cases = [case for case in kept if case is not None and case.choices != ()]
        return cases

    def _outside(self, case: Conjunction, other: Conjunction, depth: int) -> Conjunction | None:
        """`case`, narrowed so that no value of it satisfies `other`; None where that is not known to be possible.

        Both have one type. No choices left means that every value of `case` satisfies `other`.
        """
        if not both_types(case.types, other.types) or _ranges_apart(case, other):
            return case
        if replace(other, types=case.types) == Conjunction(other.path, types=case.types) and case.types <= other.types:
            return replace(case, choices=())
        if case.choices is not None:
            doubts = [_holds(value, other) for value in case.choices]
            if None in doubts:
                return None
            kept = tuple(value for value, holds in zip(case.choices, doubts, strict=True) if not holds)
            return case if len(kept) == len(doubts) else replace(case, choices=kept)
        return self._object_outside(case, other, depth) if depth and "object" in case.types else None

    def _object_outside(self, case: Conjunction, other: Conjunction, depth: int) -> Conjunction | None:
        missing = [name for name in other.required if name not in case.required]
        for name in (*case.required, *missing):
            if self._apart(case.property(name), other.property(name), depth - 1):
                return case
        if missing:
            return case.without(missing[0])
        narrowed = (self._with_other_property(case, other, name, depth - 1) for name in other.properties)
        return next((found for found in narrowed if found is not None), None)

    def _with_other_property(self, case: Conjunction, other: Conjunction, name: str, depth: int) -> Conjunction | None:
        """`case` with a property of which no value is one that `other` wants; None where its values are not listed."""
        values: list[Any] = []
        unwanted = _singles(self.of(other.property(name)))
        for single in _singles(self.of(case.property(name))):
            kept: Conjunction | None = single
            for value in unwanted:
                kept = self._outside(kept, value, depth) if kept is not None else None
            if kept is None or kept.choices is None:
                return None
            values += kept.choices
        if not values:
            return replace(case, choices=())
        path = f"{case.path}/properties/{name} of {json.dumps(values)}"
        return case.holding(name, Node({"enum": values}, path))

    def _apart(self, nodes: Nodes, others: Nodes, depth: int) -> bool:
        """Whether no value that satisfies `nodes` is known to satisfy `others`."""
        left, right = _singles(self.of(nodes)), _singles(self.of(others))
        return all(self._outside(case, other, depth) is case for case in left for other in right)


def _product(left: list[Conjunction], right: list[Conjunction]) -> list[Conjunction]:
    both = [one & other for one in left for other in right]
    satisfiable = [case for case in both if case.types and case.choices != ()]
    if len(satisfiable) > _MOST:
        raise unsupported("anyOf", satisfiable[0].path, f"it and what it is combined with make more than {_MOST} cases")
    return satisfiable


def _singles(cases: Iterable[Conjunction]) -> list[Conjunction]:
    """Each case once for each of its types that has a value; types of few values with those listed."""
    singles = []
    for case in cases:
        for kind in sorted(case.types):
            listed = _FEW.get(kind) if case.choices is None else case.choices
            values = listed and tuple(value for value in listed if both_types(frozenset({type_of(value)}), {kind}))
            if values != ():
                singles.append(replace(case, types=frozenset({kind}), choices=values))
    return singles


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
