"""What is to be learned of a task: the single values, lists and lists of records that its answers hold.

A target is one value, or all values of one kind in an array. The records of an array are told apart by one copied
value, the anchor, and its category, such as the `text` and `type` of entities. Knows nothing of texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from copydesk.drafting.expected import ABSENT, PRESENT
from copydesk.drafting.shape import Items, Key, Leaf, Record, Shape


@dataclass(frozen=True, slots=True)
class Single:
    """One value, or whether an optional compound is there."""

    path: str
    leaf: Leaf
    optional: bool

    @property
    def copied(self) -> bool:
        """Whether it may be a run of the text."""
        return not self.leaf.choices and bool(self.leaf.kinds & {"string", "number", "integer"})


@dataclass(frozen=True, slots=True)
class Several:
    """An array: of single values where it has no `keys`, else of records with these."""

    path: str
    keys: tuple[Key, ...] = ()

    def leaves(self) -> list[str]:
        """The paths of an item's values, relative to the item."""
        return [f".{key.name}" for key in self.keys] if self.keys else [""]


@dataclass(frozen=True, slots=True)
class Targets:
    """All that is learned of one shape."""

    singles: tuple[Single, ...]
    arrays: tuple[Several, ...]


_COMPOUND = Leaf(frozenset(), (PRESENT, ABSENT))


def targets_of(shape: Shape) -> Targets:
    """The targets of a shape. What lies deeper than the records of one array is left out."""
    singles: list[Single] = []
    arrays: list[Several] = []

    def visit(shape: Shape, path: str, optional: bool) -> None:
        if isinstance(shape, Leaf):
            singles.append(Single(path, shape, optional))
            return
        if isinstance(shape, Record | Items) and (optional or shape.nullable):
            singles.append(Single(f"{path}?", _COMPOUND, optional))
        if isinstance(shape, Record):
            for key in shape.keys:
                visit(key.shape, f"{path}.{key.name}" if path else key.name, optional or not key.required)
        elif isinstance(shape, Items):
            item = shape.item
            if isinstance(item, Leaf):
                arrays.append(Several(path))
            elif isinstance(item, Record):
                arrays.append(Several(path, tuple(key for key in item.keys if isinstance(key.shape, Leaf))))

    visit(shape, "", False)
    return Targets(tuple(singles), tuple(arrays))


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer sorted by targets."""

    singles: Mapping[str, str]
    """JSON texts by path; `ABSENT` for what is left out where it is optional."""
    arrays: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    """Of each array its items, as JSON texts by path relative to the item."""


def sort(targets: Targets, values: Mapping[str, str]) -> Answered:
    """The values of an answer, by their paths, sorted."""
    heads = {head for path in values for head in _heads(path)}
    singles: dict[str, str] = {}
    for single in targets.singles:
        compound = single.path.removesuffix("?") if single.leaf is _COMPOUND else None
        if compound is not None:
            singles[single.path] = PRESENT if compound in heads and values.get(compound) != "null" else ABSENT
        elif single.path in values or single.optional:
            singles[single.path] = values.get(single.path, ABSENT)
    arrays = {several.path: _items(several, values) for several in targets.arrays}
    return Answered(singles, arrays)


def _items(several: Several, values: Mapping[str, str]) -> list[dict[str, str]]:
    items: dict[int, dict[str, str]] = defaultdict(dict)
    relative = set(several.leaves())
    for path, value in values.items():
        index, rest = _split(several.path, path)
        if index is not None and rest in relative:
            items[index][rest] = value
    return [items[index] for index in sorted(items)]


def _split(array: str, path: str) -> tuple[int | None, str]:
    """The index of the item of an array that a path lies in, and the path from there."""
    if not path.startswith(f"{array}["):
        return None, ""
    index, _, rest = path[len(array) + 1 :].partition("]")
    return (int(index) if index.isdigit() else None), rest


def _heads(path: str) -> list[str]:
    """All compounds that a path lies in, and itself."""
    ends = [place for place, character in enumerate(path) if character in ".["]
    return [*(path[:end] for end in ends), path]
