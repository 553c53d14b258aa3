"""A draft while it is being checked: which of its tokens comes next, for as long as the answer says the same.

Knows nothing of grammars or models: whether what it proposes is legal or right is not its business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from copydesk.desk.habits import Habits

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_MOST_WINDOW = 2048
"""Bytes of a draft that are made into tokens at a time, however long it is."""
_LEAST_WINDOW = 48
_BYTES = 8
"""Of a token, more than most have."""


class Proposal:
    """A drafted answer text with a place in it, which is lost when the answer departs from it."""

    def __init__(
        self, text: str, tokenizer: Tokenizer, *, source: str = "", place: int = 0, habits: Habits | None = None
    ) -> None:
        """`source` says who drafted it; the answer has got as far as `place`, in bytes.

        `habits` say with what tokens the model writes such texts, and are added to.
        """
        self.source = source
        self._habits = Habits() if habits is None else habits
        self._tokenizer = tokenizer
        self._text = text.encode()
        self._place: int | None = place
        self._window = _MOST_WINDOW
        self._tokens: dict[int, int] = {}
        """Its tokens by where they start, as far as they are needed."""

    @property
    def lost(self) -> bool:
        """Whether the answer has gone another way."""
        return self._place is None

    @property
    def used_up(self) -> bool:
        """Whether nothing is left of the draft but its end."""
        return self._place == len(self._text)

    def next(self) -> int | None:
        """The token proposed next: the end token after the last; None while the place is lost."""
        usual = self._usual()
        instead = None if usual is None else self._habits.instead(usual, self._fits)
        return usual if instead is None else instead

    def left(self, most: int) -> int:
        """How many tokens it may still propose, those that are forced counted; it looks for `most` of them.

        No more are made than that takes, for it takes time.
        """
        self._window = min(_MOST_WINDOW, _LEAST_WINDOW + _BYTES * most)
        if self.next() is None or self._place is None:
            return 0
        place = self._place
        return min(most, sum(start >= place for start in self._tokens) + 1)

    def follow(self, written: bytes) -> None:
        """Take note of what the answer goes on with."""
        if self._place is not None:
            self._place = self._place + len(written) if self._text.startswith(written, self._place) else None

    def corrected(self, token: int, written: bytes) -> None:
        """Follow a token, which stands for what is `written`, where another was proposed or none."""
        there, usual = self.at(self._place), self._usual()
        self.follow(written)
        if usual is not None and written and not self.lost:
            self._habits.note(usual, token, there._fits)

    def stood(self, tokens: Iterable[tuple[int, int | None]]) -> None:
        """Take note of tokens that were written as they were proposed, each with its place in the draft."""
        if not self._habits:
            return
        for token, place in tokens:
            there = self.at(place)
            usual = there._usual()
            if usual is not None and usual in self._habits:
                self._habits.note(usual, token, there._fits)

    @property
    def place(self) -> int | None:
        """How far the answer has got in the draft, in bytes; None where it has gone another way."""
        return self._place

    def at(self, place: int | None) -> Proposal:
        """The same draft at some place, to look ahead with."""
        copy = object.__new__(Proposal)
        copy.__dict__.update(self.__dict__)
        copy._place = place
        return copy

    def _fits(self, token: int) -> bool:
        """Whether the draft goes on with what a token stands for."""
        return self._place is not None and self._text.startswith(self._tokenizer.token_bytes(token), self._place)

    def _usual(self) -> int | None:
        """The next token as the tokenizer splits the draft."""
        if self._place is None:
            return None
        if self._place == len(self._text):
            return self._tokenizer.eos_token_ids[0]
        if self._place not in self._tokens:
            self._split(self._place)
        return self._tokens.get(self._place)

    def _split(self, start: int) -> None:
        """Tokenise the draft from a place on."""
        if self._is_within_character(start):
            return
        end = start + self._window
        tokens = self._tokenizer.encode(self._text[start:end].decode(errors="ignore"))
        places = []
        for token in tokens:
            places.append(start)
            start += len(self._tokenizer.token_bytes(token))
        if end < len(self._text):  # what is cut off need not be a token's end
            while len(places) > 1 and self._is_within_character(places.pop()):
                continue
        self._tokens.update(zip(places, tokens, strict=False))

    def _is_within_character(self, place: int) -> bool:
        return self._text[place] & 0xC0 == 0x80
