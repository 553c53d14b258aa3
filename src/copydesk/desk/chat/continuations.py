"""Drafts of a reply: it goes on as the same few tokens went on before, in the conversation or in the caller's guess.

Decides with the controller how much is read, and tells it how that fared. Works on tokens alone; knows nothing of what
they say, and nothing of grammars or models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from copydesk.drafting.controller import Controller, Pass

_GRAM = 3
"""Tokens by which a place is found."""
_LONGEST = 48
"""Most tokens proposed at a time."""
_PLACES = 4
"""Places with the same tokens that are compared by what stands before them; the latest ones."""
_COMPARED = 32
"""Tokens before a place that are compared at most."""


class _Corpus:
    """Tokens that a reply may go on as."""

    def __init__(self, source: str, tokens: Sequence[int] = ()) -> None:
        self.source = source
        self.tokens: list[int] = []
        self._places: dict[tuple[int, ...], list[int]] = {}
        self.extend(tokens)

    def extend(self, tokens: Sequence[int]) -> None:
        """Add tokens; places are found once something follows them."""
        for token in tokens:
            place = len(self.tokens)
            if place >= _GRAM:
                places = self._places.setdefault(tuple(self.tokens[place - _GRAM : place]), [])
                places.append(place)
                del places[:-_PLACES]
            self.tokens.append(token)

    def find(self, before: Sequence[int]) -> int | None:
        """Where the tokens stand that came after the longest end of `before`, the latest such place."""
        places = self._places.get(tuple(before[len(before) - _GRAM :]), ())
        return max(places, key=lambda place: (self._agrees(place, before), place), default=None)

    def _agrees(self, place: int, before: Sequence[int]) -> int:
        """How many tokens before a place are those at the end of `before`."""
        count = 0
        while count < min(place, len(before), _COMPARED) and self.tokens[place - 1 - count] == before[-1 - count]:
            count += 1
        return count


@dataclass(slots=True)
class _Plan:
    """What was to be read in a pass."""

    source: str
    ride: Pass
    length: int


class Continuations:
    """The drafts of one reply."""

    def __init__(self, controller: Controller, key: str, prompt: Sequence[int], prediction: Sequence[int] = ()) -> None:
        """`key` says what the controller keeps apart. `prediction` is the caller's guess at the content."""
        self.source: str | None = None
        """Who proposed the first draft of which anything was read."""
        self.others: Callable[[], int] = int
        """How many other answers are in progress."""
        self._controller = controller
        self._key = key
        self._said = _Corpus("lookup", prompt)
        self._guess = _Corpus("prediction", prediction)
        self._corpus = self._guess
        self._place: int | None = None
        """Where in the corpus the reply stands; None where it has gone another way."""
        self._begun = False
        self._corrected = False
        self._plan: _Plan | None = None

    def note_content(self, begun: bool) -> None:
        """Take note of whether the content has begun; where it begins, the caller's guess at it does too."""
        if begun and not self._begun and self._guess.tokens:
            self._corpus, self._place = self._guess, 0
        self._begun = begun

    def propose(self, read: int, forced: Sequence[int] = ()) -> list[int]:
        """Tokens that the reply may go on with after `forced`; none where they are not worth reading.

        `read` other tokens are read in the pass anyway.
        """
        self._plan = None
        tokens = self._following(list(forced))[:_LONGEST]
        if not tokens:
            return []
        ride = Pass(read, self.others(), self._corrected)
        length = self._controller.length(self._key, self._corpus.source, len(tokens), ride)
        self._plan = _Plan(self._corpus.source, ride, length)
        return tokens[:length]

    def took(self, tokens: Sequence[int]) -> None:
        """Take note of what the reply goes on with."""
        for token in tokens:
            if self._place is not None:
                stands = 0 <= self._place < len(self._corpus.tokens) and self._corpus.tokens[self._place] == token
                self._place = self._place + 1 if stands else None
        self._said.extend(tokens)

    def judge(self, drafted: int, stood: int, read: int) -> None:
        """Take note of a pass: how many drafted tokens it had and how many stood, and how many were read for them."""
        plan = self._plan
        if plan is None:
            return
        self._controller.judge(self._key, plan.source, plan.ride, drafted, stood, paid=plan.length, read=read)
        if drafted:
            self.source = self.source or plan.source
        self._corrected |= stood < drafted

    def _following(self, forced: list[int]) -> list[int]:
        """What comes next in the corpus."""
        if self._place is not None:
            end = self._place + len(forced)
            if end < len(self._corpus.tokens) and self._corpus.tokens[self._place : end] == forced:
                return self._corpus.tokens[end : end + _LONGEST]
        before = [*self._said.tokens[-_COMPARED:], *forced]
        for corpus in (self._guess, self._said) if self._begun else (self._said,):
            place = corpus.find(before)
            if place is not None:
                self._corpus, self._place = corpus, place - len(forced)
                return corpus.tokens[place : place + _LONGEST]
        self._place = None
        return []
