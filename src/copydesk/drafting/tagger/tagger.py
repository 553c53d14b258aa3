"""What has been learned of a task from its verified answers.

Weights tell where in a text each value is copied from, or which of the frequent values it is. Knows nothing of how they
are learned, used or kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from copydesk.drafting.tagger.perceptron import Weights
from copydesk.drafting.tagger.targets import Several


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of runs: all that a target copies, or what it copies under a category."""

    target: str
    """A single value's path, or an array's path with `[]` and the value's path within an item."""
    category: tuple[str, ...] = ()
    """JSON texts, in the order of the array's `categories`."""


@dataclass(frozen=True, slots=True)
class Records:
    """How the items of an array of records are told from the text."""

    anchor: str
    """The path, within an item, of the copied value that shows that there is an item."""
    categories: tuple[str, ...] = ()
    """Paths of values that are never copied, and go with the kind of anchor."""
    in_text_order: bool = True
    """Else by category, in the order of the kinds."""


@dataclass(frozen=True, slots=True)
class Tagger:
    """Everything learned of one task."""

    weights: Weights
    kinds: tuple[Kind, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Frequent values that are not copied: target and JSON text. Of arrays of records of which nothing is copied, the
    target is the array's path with `[]`, the value a whole item, `as_value`."""
    edits: Mapping[str, str] = field(default_factory=dict)
    """By target, how a run is written as a value; as it is where there is none."""
    stems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By target, values of which only the beginning is copied, by that beginning."""
    usual: Mapping[str, str] = field(default_factory=dict)
    """By target within records, the most frequent value."""
    records: Mapping[str, Records] = field(default_factory=dict)
    """By the path of the array."""
    filled: frozenset[str] = frozenset()
    """Paths of arrays that are hardly ever empty."""
    seen: int = 0
    """Answers learned from."""


def as_value(item: Mapping[str, str]) -> str:
    """A whole item of an array of records, given as JSON texts by path within it, as one value."""
    return json.dumps(item, ensure_ascii=False)


def as_item(value: str) -> dict[str, str]:
    """What `as_value` was given."""
    item: dict[str, str] = json.loads(value)
    return item


def in_items(several: Several, leaf: str) -> str:
    """The target of a value within the items of an array."""
    return f"{several.path}[]{leaf}"
