"""Writes the rest of an answer in the one layout of answers: keys and punctuation by the shape, values by guesses.

What stands already is followed first, value by value, so that whoever guesses knows what was settled. Knows nothing of
texts or of how a value is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from copydesk.drafting.shape import Items, Leaf, Record, Shape
from copydesk.types import Span

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}]*")
_MOST_ITEMS = 256
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Guess:
    """A value as it is written, and where it stands in the source text."""

    text: str
    spans: tuple[Span, ...] = ()


class Guesses(Protocol):
    """What the layout asks for. Paths are those of an answer's fields: `city`, `items[0].price`, `` for the whole."""

    def value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        """A value that begins with what is written of it; None ends the draft there."""

    def given(self, path: str, text: str) -> None:
        """Take note of a single value that stands, or a compound's `null`, `{}`, `[]`: in order, before any guess."""

    def present(self, path: str) -> bool:
        """Whether an optional key is there, or a compound that may be null is not."""

    def more(self, path: str, index: int) -> bool:
        """Whether an array has an item of this index."""


@dataclass(frozen=True, slots=True)
class Written:
    """A proposed answer, or the beginning of one."""

    text: str
    complete: bool
    spans: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    """Of the values that were guessed."""


def write(shape: Shape, so_far: str, guesses: Guesses) -> Written | None:
    """The answer that goes on from `so_far` as guessed; None if nothing can be added to it, or it is no answer's."""
    writer = _Writer(so_far, guesses)
    complete = True
    try:
        writer.write(shape, "")
    except _StopError as stop:
        if stop.lost:
            return None
        complete = False
    if not writer.followed or not writer.added:
        return None
    return Written(so_far + "".join(writer.added), complete, writer.spans)


def values(shape: Shape, answer: str) -> dict[str, str] | None:
    """The single values of a whole answer, by their paths, as they are written; None if it is no answer of the shape.

    A compound that is empty or `null` is a value as well.
    """
    taken = _Taken()
    writer = _Writer(answer, taken)
    try:
        writer.write(shape, "")
    except _StopError:
        return None
    return taken.values if writer.followed and not writer.added else None


class _Taken:
    """Adds nothing, and keeps what stands. Satisfies `Guesses`."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        self.values[path] = begun
        return Guess(begun) if begun else None

    def given(self, path: str, text: str) -> None:
        self.values[path] = text

    def present(self, path: str) -> bool:
        return False

    def more(self, path: str, index: int) -> bool:
        return False


class _StopError(Exception):
    """The draft ends here; `lost` if what stands does not fit the shape."""

    def __init__(self, *, lost: bool) -> None:
        super().__init__()
        self.lost = lost


class _Writer:
    def __init__(self, so_far: str, guesses: Guesses) -> None:
        self._so_far = so_far
        self._place = 0
        self._guesses = guesses
        self.added: list[str] = []
        self.spans: dict[str, tuple[Span, ...]] = {}

    @property
    def followed(self) -> bool:
        """Whether all that stands is followed."""
        return self._place == len(self._so_far)

    def write(self, shape: Shape, path: str) -> None:
        if isinstance(shape, Leaf):
            self._leaf(shape, path)
        elif isinstance(shape, Record):
            if not self._null(shape.nullable, path):
                self._record(shape, path)
        elif isinstance(shape, Items):
            if not self._null(shape.nullable, path):
                self._items(shape, path)
        else:
            self._unknown()

    def _leaf(self, leaf: Leaf, path: str) -> None:
        begun = self._so_far[self._place :]
        whole = _whole(begun, leaf)
        if whole is not None:
            self._place += len(whole)
            self._guesses.given(path, whole)
            return
        guess = self._guesses.value(path, leaf, begun)
        self._place = len(self._so_far)
        if guess is None or not guess.text.startswith(begun):
            self._stop()
        self._add(guess.text[len(begun) :])
        self.spans[path] = guess.spans

    def _null(self, nullable: bool, path: str) -> bool:
        """Write `null` for a compound that may be null and is."""
        stands = not self.followed
        is_null = nullable and (self._ahead("null") if stands else not self._guesses.present(path))
        if is_null:
            if stands:
                self._guesses.given(path, "null")
            self._force("null")
        return is_null

    def _record(self, record: Record, path: str) -> None:
        self._force("{")
        separator = ""
        keys = [(key, f"{json.dumps(key.name, ensure_ascii=False)}: ") for key in record.keys]
        for index, (key, written) in enumerate(keys):
            place = f"{path}.{key.name}" if path else key.name
            if not key.required and not self._stands(separator, keys[index:], place):
                continue
            self._force(separator + written)
            self.write(key.shape, place)
            separator = ", "
        if not separator and not self.followed:
            self._guesses.given(path, "{}")
        self._force("}")

    def _stands(self, separator: str, keys: Sequence[tuple[object, str]], path: str) -> bool:
        """Whether the optional first one of `keys` is in the answer."""
        if self.followed:
            return self._guesses.present(path)
        fitting = [written for _, written in keys if self._ahead(separator + written)]
        if fitting[:1] != [keys[0][1]]:
            return False
        return len(fitting) == 1 or self._guesses.present(path)

    def _items(self, items: Items, path: str) -> None:
        self._force("[")
        for index in range(_MOST_ITEMS):
            if not self._another(items, path, index):
                if not index and not self.followed:
                    self._guesses.given(path, "[]")
                self._force("]")
                return
            if index:
                self._force(", ")
            self.write(items.item, f"{path}[{index}]")
        self._stop()

    def _another(self, items: Items, path: str, index: int) -> bool:
        if not self.followed:
            return not self._ahead("]")
        if items.most is not None and index >= items.most:
            return False
        return index < items.least or self._guesses.more(path, index)

    def _unknown(self) -> None:
        """Pass a value that stands; none is drafted."""
        try:
            _, end = _decoder.raw_decode(self._so_far, self._place)
        except (ValueError, RecursionError):
            end = len(self._so_far)
        self._place = end
        if self.followed:
            self._stop()

    def _force(self, text: str) -> None:
        """Write what comes next, or follow it where it stands."""
        if not self._ahead(text):
            raise _StopError(lost=True)
        standing = min(len(text), len(self._so_far) - self._place)
        self._place += standing
        self._add(text[standing:])

    def _ahead(self, text: str) -> bool:
        """Whether what stands goes on with `text`, or with a part of it at the very end."""
        return self._so_far.startswith(text[: len(self._so_far) - self._place], self._place)

    def _add(self, text: str) -> None:
        if text:
            self.added.append(text)

    def _stop(self) -> NoReturn:
        raise _StopError(lost=False)


def _whole(begun: str, leaf: Leaf) -> str | None:
    """The value that `begun` begins with, if it is known to be over."""
    if "label" in leaf.kinds:
        return None
    if begun.startswith('"'):
        string = _STRING.match(begun)
        return string.group() if string else None
    bare = _BARE.match(begun)
    return bare.group() if bare and 0 < bare.end() < len(begun) else None
