"""The words that people put before the parts of a recipient, and those of the talk around them: `data/wordings.json`.

Only lists, folded: where such a word counts as a label, is decided elsewhere.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from copydesk.drafting.rules.folding import fold


class Kind(Enum):
    """What a label announces."""

    NAME = "name"
    PHONE = "phone"
    SPARE = "spare"
    """A second phone."""
    ADDRESS = "address"
    REGION = "region"
    """The divisions without the rest of the address."""
    DETAIL = "detail"
    """The rest without the divisions."""
    POSTCODE = "postcode"
    NUMBER = "number"
    """Order and identity numbers."""
    OTHER = "other"
    """Something that belongs to no field: a remark, a heading, an e-mail address."""


@dataclass(frozen=True, slots=True)
class Wordings:
    """The lists."""

    sure: Mapping[Kind, tuple[str, ...]]
    """Words that are labels wherever they stand."""
    unsure: Mapping[Kind, tuple[str, ...]]
    """Words that are labels where a colon or their kind of value follows, or where a part begins."""
    bare: frozenset[str]
    """Labels that take no colon and stand where a part begins (我叫)."""
    verbs: frozenset[str]
    """Verbs that announce an address where divisions follow (寄到)."""
    colon_only: frozenset[str]
    """Words that are labels only before a colon or in brackets."""
    people: frozenset[str]
    """Of these, those that also take 是 (客户是)."""
    space_is_enough: frozenset[str]
    """Labels that a space may separate from their value."""
    chatter: tuple[str, ...]
    """Words of sentences around the parts."""


@functools.cache
def wordings() -> Wordings:
    """The lists, read once."""
    lists = json.loads((Path(__file__).with_name("data") / "wordings.json").read_text(encoding="utf-8"))
    sure, unsure = (
        {Kind(kind): tuple(map(fold, words)) for kind, words in lists[name].items()} for name in ("sure", "unsure")
    )
    return Wordings(
        sure=sure,
        unsure=unsure,
        bare=frozenset(lists["bare"]),
        verbs=frozenset(lists["verbs"]),
        colon_only=frozenset(lists["colon_only"]),
        people=frozenset(lists["people"]),
        space_is_enough=frozenset(lists["space_is_enough"]),
        chatter=tuple(map(fold, lists["chatter"])),
    )
