"""A draft while it is being checked: which of its tokens comes next, and where it goes on after a correction.

Knows nothing of grammars or models: whether what it proposes is legal or right is not its business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_ANCHOR = 4
"""Bytes of forced text that must stand in the draft for it to go on from there."""


class Proposal:
    """A drafted answer text with a place in it, which is lost when the answer departs from it."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._text = text.encode()
        self._place: int | None = 0
        self._seen = 0
        """Bytes of the draft that the answer has passed."""
        self._tokens: dict[int, int] = {}
        """Its tokens by where they start, as far as they are needed."""
        self._split(0)

    def next(self) -> int | None:
        """The token proposed next: the end token after the last; None while the place is lost."""
        if self._place is None:
            return None
        if self._place == len(self._text):
            return self._tokenizer.eos_token_ids[0]
        if self._place not in self._tokens:
            self._split(self._place)
        return self._tokens.get(self._place)

    def follow(self, written: bytes, *, forced: bool) -> None:
        """Take note of what the answer goes on with. Forced text also finds a lost place again."""
        if self._place is not None and self._text.startswith(written, self._place):
            self._place += len(written)
            self._seen = self._place
            return
        self._place = None
        if forced and len(written) >= _ANCHOR:
            found = self._text.find(written, self._seen)
            if found >= 0:
                self._place = self._seen = found + len(written)

    def copy(self) -> Proposal:
        """The same draft at the same place, to look ahead with."""
        copy = object.__new__(Proposal)
        copy.__dict__.update(self.__dict__)
        return copy

    def _split(self, start: int) -> None:
        """Tokenise the draft from a place on."""
        try:
            text = self._text[start:].decode()
        except UnicodeDecodeError:  # within a character
            return
        for token in self._tokenizer.encode(text):
            self._tokens[start] = token
            start += len(self._tokenizer.token_bytes(token))
