"""Where in a JSON answer the writing stands, a token at a time: at which value, and within a grounded one, how far.

Reads the one layout that answers have; whether they are legal is the grammar's business. Knows no tokenizer.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from copydesk.desk.runs import Reached, Runs, spellings
from copydesk.desk.sites import Site

_VALUE, _KEY, _IN_KEY, _IN_FREE, _IN_GROUNDED = range(5)
"""Outside of strings before a value or after it, and before a key; within a key, a free string, a grounded one."""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_ESCAPED = frozenset(_ESCAPES.values()) - {"/"}


class _Container(NamedTuple):
    """An object or array that is open."""

    outer: _Container | None
    site: Site | None
    item: int
    """Index of an array's current item; -1 in an object."""


class Place(NamedTuple):
    """A place in an answer."""

    mode: int
    container: _Container | None
    site: Site | None
    """Of the value that comes next or is being written."""
    pending: bytes = b""
    """Of a key, its text so far; of other strings, a character or escape that is only begun."""
    reached: Reached = ()
    """How far a grounded value has come in the text; empty before its first character."""
    length: int = 0
    """Characters of a grounded value so far."""

    @property
    def is_grounded(self) -> bool:
        """Whether it is within a grounded value."""
        return self.mode == _IN_GROUNDED


def start(site: Site | None) -> Place:
    """The place before an answer."""
    return Place(_VALUE, None, site)


def after(place: Place, text: bytes, runs: Runs) -> Place | None:
    """The place after more text of an answer; None if it fills a grounded value with what the source does not hold.

    Only for text that the grammar allows.
    """
    while text:
        if place.mode == _IN_GROUNDED:
            found = _in_grounded(place, text, runs)
            if found is None:
                return None
            place, text = found
        elif place.mode == _IN_FREE and b'"' not in text and b"\\" not in text and not place.pending:
            return place
        else:
            place, text = _to_grounded(place, text)
    return place


@lru_cache(maxsize=4096)
def _to_grounded(place: Place, text: bytes) -> tuple[Place, bytes]:
    """The place at which a grounded string opens, and the text after it; the last place if none does."""
    begin = 0
    while begin < len(text) and place.mode != _IN_GROUNDED:
        read = _in_string if place.mode in (_IN_KEY, _IN_FREE) else _outside
        place, begin = read(place, text, begin)
    return place, text[begin:]


def _outside(place: Place, text: bytes, begin: int) -> tuple[Place, int]:
    """Up to the end of `text` or of the next byte that opens a string."""
    mode, container, site = place[:3]
    for index in range(begin, len(text)):
        byte = text[index]
        if byte == 0x22:  # "
            if mode == _KEY:
                return Place(_IN_KEY, container, None), index + 1
            if site is not None and site.runs:
                return Place(_IN_GROUNDED, container, site), index + 1
            return Place(_IN_FREE, container, site), index + 1
        if byte == 0x7B:  # {
            container, mode = _Container(container, site, -1), _KEY
        elif byte == 0x5B:  # [
            container = _Container(container, site, 0)
            site = site.item(0) if site is not None else None
        elif byte == 0x2C and container is not None:  # ,
            if container.item < 0:
                mode = _KEY
            else:
                container = container._replace(item=container.item + 1)
                site = container.site.item(container.item) if container.site is not None else None
        elif byte in b"}]" and container is not None:
            container, mode, site = container.outer, _VALUE, None
    return Place(mode, container, site), len(text)


def _in_string(place: Place, text: bytes, begin: int) -> tuple[Place, int]:
    """Up to the end of `text` or of the string: a key, whose text is kept, or a free value."""
    escaped = place.mode == _IN_FREE and bool(place.pending)
    if place.mode == _IN_KEY:
        escaped = (len(place.pending) - len(place.pending.rstrip(b"\\"))) % 2 == 1
    for index in range(begin, len(text)):
        byte = text[index]
        if escaped:
            escaped = False
        elif byte == 0x5C:  # \
            escaped = True
        elif byte == 0x22:  # "
            if place.mode == _IN_FREE:
                return Place(_VALUE, place.container, None), index + 1
            key = json.loads(b'"%b"' % (place.pending + text[begin:index]))
            around = place.container.site if place.container is not None else None
            return Place(_VALUE, place.container, around.member(key) if around is not None else None), index + 1
    if place.mode == _IN_KEY:
        return place._replace(pending=place.pending + text[begin:]), len(text)
    return place._replace(pending=b"\\" if escaped else b""), len(text)


def _in_grounded(place: Place, text: bytes, runs: Runs) -> tuple[Place, bytes] | None:
    """The place at the end of a grounded string, and the text after it, or the last place; None for what is no run."""
    if place.pending:
        text = place.pending + text
    reached, length = place.reached or _start(place, runs), place.length
    least = place.site.least if place.site is not None else 0
    begin = 0
    while begin < len(text):
        byte = text[begin]
        if byte == 0x22:  # "
            return Place(_VALUE, place.container, None), text[begin + 1 :]
        size = 2 if byte == 0x5C else 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        part = text[begin : begin + size]
        if len(part) < size:
            if not _may_go_on(part, runs, reached, least - length - 1):
                return None
            return Place(_IN_GROUNDED, place.container, place.site, part, reached, length), b""
        character = _character(part)
        if character is None:
            return None
        length += 1
        moved = runs.after(reached, character, least - length)
        if moved is None:
            return None
        reached = moved
        begin += size
    return Place(_IN_GROUNDED, place.container, place.site, b"", reached, length), b""


def following(place: Place, runs: Runs) -> set[str]:
    """The characters, folded, that may come next in the grounded string that a place is in, maybe others too."""
    return runs.following(place.reached or _start(place, runs))


def _start(place: Place, runs: Runs) -> Reached:
    return runs.start(place.site.runs if place.site is not None else 1)


def _character(part: bytes) -> str | None:
    """The character that a whole escape or a whole sequence of bytes stands for."""
    if part[0] == 0x5C:
        return _ESCAPES.get(chr(part[1]))
    try:
        return part.decode()
    except UnicodeDecodeError:
        return None


def _may_go_on(part: bytes, runs: Runs, reached: Reached, left: int) -> bool:
    """Whether a character or escape that may come next begins with these bytes."""
    return any(
        part == b"\\" if spelling in _ESCAPED else spelling.encode().startswith(part)
        for character in runs.following(reached)
        if runs.after(reached, character, left) is not None
        for spelling in spellings(character)
    )
