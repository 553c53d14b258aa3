"""A caller's schema made ready for the grammar: everything resolved, closed and bounded, or refused by name.

What comes out holds only keywords that the grammar holds to exactly. Every answer of it satisfies the caller's schema
and has an end: strings, numbers, arrays and recursion are bounded. Knows nothing of tokens.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from copydesk.desk.schema import scalars
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.cases import Cases
from copydesk.desk.schema.conjunction import Conjunction, Nodes
from copydesk.desk.schema.conjunction import key as value_key
from copydesk.desk.schema.contradiction import Contradictions
from copydesk.desk.schema.document import Document, Node
from copydesk.desk.schema.objects import Objects
from copydesk.errors import SchemaError
from copydesk.types import Json

_DEPTHS = (6, 24)
"""References into recursive definitions followed; the second is tried where the first leaves nothing."""
_ANY_DEPTH = 2
"""Levels of arrays and objects in a value of which the schema says nothing."""
_COMPOUND = frozenset({"properties", "patternProperties", "items", "anyOf"})
_DATA = frozenset({"enum", "required"})


def prepare(schema: Any, bounds: Bounds) -> Json:
    """The schema for the grammar.

    Errors: `SchemaError` `unsupported_schema` naming the keyword and its path, or `invalid_schema` for what is no
    schema or is satisfied by nothing.
    """
    document = Document(schema)
    for depth in _DEPTHS:
        preparation = _Preparation(document, bounds, depth)
        prepared = preparation.of((document.root,))
        if prepared is not None:
            return _shared(prepared)
    raise preparation.contradiction(document.root)


class _Preparation:
    """Prepares the nodes of one document. None stands for what nothing satisfies.

    Equal parts become one and the same dict, so that a recursive schema stays small.
    """

    def __init__(self, document: Document, bounds: Bounds, depth: int) -> None:
        self._cases = Cases(document, depth)
        self._bounds = bounds
        self._objects = Objects(self.of, self._cases, bounds)
        self._done: dict[Any, Json | None] = {}

    def of(self, nodes: Nodes) -> Json | None:
        """All nodes at once."""
        branches = []
        for case in self._cases.of(nodes):
            if case.says_nothing:
                return self._anything(_ANY_DEPTH)
            branches += [self._typed(case, kind) for kind in _ordered(case)]
        return _any_of([branch for branch in branches if branch is not None])

    def contradiction(self, root: Node) -> SchemaError:
        """Why nothing satisfies the document."""
        return Contradictions(self._cases, self.of).error(root)

    def _typed(self, case: Conjunction, kind: str) -> Json | None:
        identity = (kind, _identity(case))
        if identity not in self._done:
            self._done[identity] = self._build(case, kind)
        return self._done[identity]

    def _build(self, case: Conjunction, kind: str) -> Json | None:
        if kind == "listed":
            return scalars.listed(case)
        if kind in ("null", "boolean"):
            return {"type": kind}
        if kind == "integer":
            return scalars.integer(case)
        if kind == "number":
            return scalars.number(case)
        if kind == "string":
            return scalars.string(case, self._bounds.characters)
        return self._array(case) if kind == "array" else self._objects.of(case)

    def _array(self, case: Conjunction) -> Json | None:
        least = int(case.limits.get("minItems", 0))
        most = int(case.limits.get("maxItems", max(self._bounds.items, 2 * least, len(case.first))))
        first: list[Json] = []
        for nodes in case.first[:most]:
            item = self.of(nodes)
            if item is None:
                most = len(first)
                break
            first.append(item)
        items = self.of(case.items) if most > len(first) else None
        if items is None:
            most = min(most, len(first))
        if least > most:
            return None
        result: Json = {
            "type": "array",
            "items": False if items is None else items,
            "minItems": least,
            "maxItems": most,
        }
        return {**result, "prefixItems": first} if first else result

    def _anything(self, depth: int) -> Json:
        """Any value, nested at most `depth` deep."""
        if depth not in self._done:
            free = Conjunction("#")
            kinds: list[Json | None] = [scalars.string(free, self._bounds.characters), scalars.number(free)]
            kinds += [{"type": "boolean"}, {"type": "null"}]
            if depth:
                inner = self._anything(depth - 1)
                kinds.append({"type": "array", "items": inner, "maxItems": self._bounds.items})
                kinds.append(self._objects.free(inner))
            self._done[depth] = _any_of([kind for kind in kinds if kind is not None])
        return self._done[depth] or {}


def _ordered(case: Conjunction) -> list[str]:
    return ["listed"] if case.choices is not None else sorted(case.types)


def _any_of(branches: list[Json]) -> Json | None:
    different = list({id(branch): branch for branch in branches}.values())
    return {"anyOf": different} if len(different) > 1 else different[0] if different else None


def _identity(case: Conjunction) -> Any:
    """Equal for conjunctions that say the same."""
    return (
        case.types,
        case.choices if case.choices is None else tuple(map(value_key, case.choices)),
        tuple(sorted(case.limits.items())),
        (case.patterns, case.formats, case.unique),
        tuple(case.properties.items()),
        tuple(case.shapes.items()),
        (case.rest, case.names, case.required, case.first, case.items),
    )


def _shared(root: Json) -> Json:
    """The same schema as a tree: a compound part that stands in several places becomes a definition they refer to."""
    uses: Counter[int] = Counter()
    names: dict[int, str] = {}
    definitions: Json = {}

    def count(part: Any) -> None:
        uses[id(part)] += 1
        if uses[id(part)] == 1:
            for inner in _inner(part):
                count(inner)

    def write(part: Any) -> Any:
        if isinstance(part, list):
            return [write(value) for value in part]
        if not isinstance(part, dict):
            return part
        if uses[id(part)] < 2 or not part.keys() & _COMPOUND:
            return write_out(part)
        if id(part) not in names:
            names[id(part)] = str(len(names))
            definitions[names[id(part)]] = write_out(part)
        return {"$ref": f"#/$defs/{names[id(part)]}"}

    def write_out(part: Json) -> Json:
        return {key: value if key in _DATA and isinstance(value, list) else write(value) for key, value in part.items()}

    count(root)
    return {**write_out(root), **({"$defs": definitions} if definitions else {})}


def _inner(part: Any) -> list[Any]:
    """The dicts and lists directly in a part of a schema, data left out."""
    if isinstance(part, list):
        return [value for value in part if isinstance(value, dict | list)]
    if not isinstance(part, dict):
        return []
    return [
        value
        for key, value in part.items()
        if isinstance(value, dict) or (isinstance(value, list) and key not in _DATA)
    ]
