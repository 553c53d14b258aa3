"""Regular expressions of callers: what they match and how much they ask for, found in time that none makes long.

Python's own `re` goes back and tries again, without end for some expressions. Knows nothing of schemas.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

LONGEST_RUN = 4096
"""Characters: what the grammar is forced to write goes through it in one piece, in time that grows with the square."""
_PARTS = re.compile(
    r"\\[pPxuU]\{[^}]*\}|\\.|(?P<set>\[)|\((?P<flags>\?[a-zA-Z-]+\))|(?P<open>\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:))?)"
    r"|(?P<close>\))|(?P<or>\|)|\{\s*(?P<least>[0-9]+)\s*(?:,[\s0-9]*)?\}\??|(?P<some>[*+?])|.",
    re.DOTALL,
)
_IN_SET = re.compile(r"\\.|\[\^?\]?|\]|.", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")
_ANY = frozenset((".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S"))
"""What never leaves a single character to write."""


def found(pattern: str, text: str) -> bool:
    """Whether an expression matches anywhere in a text. Errors: `ValueError` for one that is not understood."""
    from pydantic_core import ValidationError

    try:
        _searcher(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def fits(pattern: str, text: str) -> bool:
    """Whether an expression matches the whole of a text. Errors: `ValueError` for one that is not understood."""
    return found(rf"\A(?:{pattern})\z", text)


def longest_run(pattern: str) -> int:
    """At most how many characters an expression may force at once: of repetitions the fewest, if any at all.

    Errors: `ValueError` for verbose mode, in which an expression can hold anything as a comment.
    """
    if _VERBOSE.search(pattern):
        raise ValueError("it is in verbose mode (?x)")
    groups: list[_Group] = [_Group()]
    place = 0
    while place < len(pattern):
        part = _PARTS.match(pattern, place)
        assert part is not None  # the last alternative is any character
        place = part.end()
        group = groups[-1]
        if part["set"]:
            place = _after_set(pattern, place)
            group.put(1)
        elif part["open"]:
            groups.append(_Group())
        elif part["close"]:
            if len(groups) > 1:
                groups[-2].put(groups.pop().longest())
        elif part["or"]:
            group.alternative()
        elif part["least"]:
            group.last *= max(1, int(part["least"]))
        elif not part["some"] and not part["flags"]:
            group.put(int(part[0] not in _ANY))
    return max(group.longest() for group in groups)


class _Group:
    """The alternatives of one pair of brackets, as far as they were read."""

    def __init__(self) -> None:
        self._best = self._before = self.last = 0

    def put(self, run: int) -> None:
        """One more thing that a repetition may follow."""
        self._before += self.last
        self.last = run

    def alternative(self) -> None:
        """The next one begins."""
        self._best = self.longest()
        self._before = self.last = 0

    def longest(self) -> int:
        """Of the alternatives so far."""
        return max(self._best, self._before + self.last)


def _after_set(pattern: str, place: int) -> int:
    """Where a set of characters ends, the brackets within it closed; `place` is behind its own."""
    first = re.compile(r"\^?\]?").match(pattern, place)
    place, depth = first.end() if first else place, 1
    while depth and (part := _IN_SET.match(pattern, place)):
        place = part.end()
        depth += part[0].startswith("[") - (part[0] == "]")
    return place


@lru_cache(maxsize=256)
def _searcher(pattern: str) -> SchemaValidator:
    """Pydantic's matcher, which is an automaton. Errors: `ValueError`."""
    from pydantic_core import SchemaError, SchemaValidator

    schema: Any = {"type": "str", "pattern": pattern, "regex_engine": "rust-regex"}
    try:
        return SchemaValidator(schema)
    except SchemaError as error:
        raise ValueError(f"{pattern!r} is not understood") from error
