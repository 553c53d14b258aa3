"""The single values in a JSON answer: their paths, and where their text stands in it.

Reads valid JSON, however it is laid out. Knows nothing of tokens.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import count
from typing import Any

_decoder = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A string, number, `true`, `false`, `null`, or an empty array or object within an answer."""

    path: str
    """Such as `city`, `items[0].price`; `value` for an answer that is itself a single value."""
    value: Any
    start: int
    end: int
    """Where its text stands, as code points of the answer, and the character that shows that a number is over."""


def leaves(text: str) -> list[Leaf]:
    """The single values of an answer in the order in which it gives them."""
    found: list[Leaf] = []
    _read(text, _past_space(text, 0), "", found)
    return found


def _read(text: str, start: int, path: str, found: list[Leaf]) -> int:
    """Add the leaves of the value that starts at `start`; returns where it ends."""
    if text[start] in "{[" and text[_past_space(text, start + 1)] not in "}]":
        return _read_items(text, start, path, found)
    value, end = _decoder.raw_decode(text, start)
    ends_itself = text[start] in '"{['
    found.append(Leaf(path or "value", value, start, end if ends_itself else min(end + 1, len(text))))
    return end


def _read_items(text: str, start: int, path: str, found: list[Leaf]) -> int:
    closer = "}" if text[start] == "{" else "]"
    place = start + 1
    for index in count():
        place = _past_space(text, place)
        if closer == "}":
            name, place = _decoder.raw_decode(text, place)
            item_path = f"{path}.{name}" if path else name
            place = _past_space(text, _past_space(text, place) + len(":"))
        else:
            item_path = f"{path}[{index}]"
        place = _past_space(text, _read(text, place, item_path, found))
        if text[place] == closer:
            break
        place += len(",")
    return place + 1


def _past_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place
