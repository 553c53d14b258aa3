"""Where a reply stands: in its reasoning, in its content, at its end; what may come next, and what must.

Reasoning is found by the text around it, whether the prompt opened it or the model does. Free content ends at an end
token or before a stop text; under a constraint the constraint says what is legal. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from copydesk.desk.chat.vocabulary import CLOSE, OPEN, Mask, ReplyVocabulary
from copydesk.desk.grammar import Grammar, JsonState

_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Course:
    """How a reply is to go: settled before its first token."""

    vocabulary: ReplyVocabulary
    grammar: Grammar | None = None
    """What the content is held to; None leaves it free."""
    stop: tuple[bytes, ...] = ()
    """Texts before which free content ends."""
    reasons: bool = False
    """Whether it begins within reasoning."""
    may_reason: bool = False
    """Whether it may open reasoning itself, as its very first text."""
    most_reasoning: int | None = None
    """Tokens after which reasoning is ended; None for no limit."""
    separator: tuple[int, ...] = ()
    """Between reasoning and constrained content."""


@dataclass(slots=True)
class _Place:
    """What changes as a reply goes on."""

    length: int = 0
    """Bytes of all its text."""
    reasoning: tuple[int, int | None] | None = None
    """Where in the text its reasoning begins, and where it ended."""
    content: int | None = None
    """Where in the text its content begins; None before."""
    stop: int | None = None
    """Where in the text the stop text begins that ended it."""
    ended: bool = False
    """Whether an end token stands."""
    within: int = -1
    """How many tokens stand in the constraint's grammar; -1 before it begins."""


class ReplyState:
    """A legal beginning of a reply, as tokens."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._vocabulary = course.vocabulary
        self._grammar: JsonState | None = None
        self.text = bytearray()
        """All that was written, marks included."""
        self._places = [_Place()]
        if course.reasons:
            self._here.reasoning = (0, None)
        elif not course.may_reason or course.grammar:
            self._begin_content(self._here, 0)

    @property
    def _here(self) -> _Place:
        return self._places[-1]

    @property
    def count(self) -> int:
        """How many tokens it has."""
        return len(self._places) - 1

    @property
    def finished(self) -> bool:
        """Whether nothing may follow. Errors: `SchemaError` where the grammar gave up, which is no end."""
        here = self._here
        return here.ended or here.stop is not None or (here.within >= 0 and self._inner.finished)

    @property
    def reasoning(self) -> tuple[int, int | None] | None:
        """Where in the text the reasoning begins and where it ended, if there is any."""
        return self._here.reasoning

    @property
    def content(self) -> tuple[int, int | None] | None:
        """Where in the text the content begins, and where it ends if that is not the text's end; None before it."""
        here = self._here
        return None if here.content is None else (here.content, here.stop)

    @property
    def grammar(self) -> JsonState | None:
        """Where the content stands in its constraint; None while it is not held to one."""
        return self._inner if self._here.within >= 0 else None

    @property
    def within(self) -> int:
        """How many of the last tokens stand in the constraint."""
        return max(0, self._here.within)

    @property
    def _inner(self) -> JsonState:
        if self._grammar is None and self._course.grammar:
            self._grammar = self._course.grammar.start()
        if self._grammar is None:
            raise RuntimeError("a free reply has no grammar")
        return self._grammar

    @property
    def _reasons(self) -> bool:
        return self._here.content is None and self._here.reasoning is not None

    @property
    def reasoned_enough(self) -> bool:
        """Whether it reasons, and may do so no longer."""
        most = self._course.most_reasoning
        return self._reasons and most is not None and self.count >= most

    def forced(self) -> tuple[int, ...]:
        """Accept the tokens that can only come next, whatever the model says, and return them."""
        course = self._course
        forced: list[int] = []
        if self.finished:
            return ()
        if self.reasoned_enough:
            for token in course.vocabulary.close:
                self._append(token)
                forced.append(token)
        if self._here.within == 0 and self._ended_reasoning():
            for token in course.separator:
                self._append(token)
                forced.append(token)
        if self._here.within >= 0:
            for token in self._inner.forced():
                self._append(token, in_grammar=True)
                forced.append(token)
        return tuple(forced)

    def allows(self, token: int) -> bool:
        """Whether a token is legal here."""
        if self.finished or not 0 <= token < len(self._vocabulary.plain):
            return False
        if self._here.within >= 0:
            return self._inner.allows(token)
        return bool(self._free_mask()[token]) and not self._crosses(token)

    def legal(self) -> Mask:
        """Which tokens are legal here, `[vocab_size]`. Not to be changed."""
        if self._here.within >= 0:
            return self._inner.legal(len(self._vocabulary.plain))
        mask = self._free_mask()
        crossing = [token for token in self._maybe_crossing() if self._crosses(token)]
        if crossing:
            mask = mask.copy()
            mask[crossing] = False
        return mask

    def best(self, scores: np.ndarray) -> int:
        """The legal token of the highest score, ties by lowest id."""
        return int(np.where(self.legal(), scores, -np.inf).argmax())

    def accept(self, token: int) -> bool:
        """Append a token if it is legal; returns whether it was."""
        if self._here.within >= 0:
            if self.finished or not self._inner.accept(token):
                return False
            self._append(token, in_grammar=True)
            return True
        if not self.allows(token):
            return False
        self._append(token)
        return True

    def rewind(self, count: int) -> None:
        """Take back the last `count` tokens, forced ones counted."""
        if not count:
            return
        within = self._here.within
        del self._places[len(self._places) - count :]
        del self.text[self._here.length :]
        if within > 0:
            self._inner.rewind(within - max(0, self._here.within))

    def settle(self) -> None:
        """Nothing more comes: what might have become a mark is content."""
        self._settle(self._here)

    def _settle(self, place: _Place) -> None:
        if place.content is None and place.reasoning is None:
            self._begin_content(place, 0)

    def _append(self, token: int, *, in_grammar: bool = False) -> None:
        """Take in a token that is legal; the grammar, if it is its turn, has taken it in."""
        here = self._here
        text = self._vocabulary.text(token)
        self.text += text
        after = _Place(len(self.text), here.reasoning, here.content, here.stop, here.ended, here.within)
        self._places.append(after)
        if in_grammar:
            after.within += 1
        elif token in self._vocabulary.ends:
            after.ended = True
            self._settle(after)
        elif here.content is None:
            self._read_marks(after)
        else:
            self._skip_space(after)
            after.stop = _first(self.text, self._course.stop, here.length, after.content or 0)

    def _read_marks(self, place: _Place) -> None:
        """Find out whether reasoning begins or ends with the text so far."""
        if place.reasoning is None:
            if self.text.startswith(OPEN):
                place.reasoning = (len(OPEN), None)
            elif not OPEN.startswith(self.text):
                self._begin_content(place, 0)
        if place.reasoning is not None:
            start = place.reasoning[0]
            end = self.text.find(CLOSE, start)
            if end >= 0:
                place.reasoning = (start, end)
                self._begin_content(place, end + len(CLOSE))

    def _begin_content(self, place: _Place, start: int) -> None:
        place.content = start
        self._skip_space(place)
        if self._course.grammar:
            place.within = 0
        place.stop = _first(self.text, self._course.stop, start, place.content)

    def _skip_space(self, place: _Place) -> None:
        """Leave out what stands between reasoning and content."""
        if place.reasoning is None or place.content is None:
            return
        while place.content < len(self.text) and self.text[place.content] in _SPACE:
            place.content += 1

    def _ended_reasoning(self) -> bool:
        """Whether the mark that ended reasoning stands last."""
        end = self._here.reasoning[1] if self._here.reasoning else None
        return end is not None and self._here.length == end + len(CLOSE)

    def _free_mask(self) -> Mask:
        undecided = self._here.content is None and self._here.reasoning is None
        ends = not (self._reasons and self._course.grammar)
        return self._vocabulary.mask(ends=ends, opens=undecided, closes=self._reasons)

    def _maybe_crossing(self) -> Sequence[int]:
        """Tokens that may end reasoning and go on with text that the constraint would have had to allow."""
        if not (self._reasons and self._course.grammar) or not _begun(self.text, CLOSE):
            return ()
        return self._vocabulary.crossing

    def _crosses(self, token: int) -> bool:
        if not (self._reasons and self._course.grammar):
            return False
        start = self._here.reasoning[0] if self._here.reasoning else 0
        _, found, rest = (bytes(self.text[start:]) + self._vocabulary.text(token)).partition(CLOSE)
        return bool(found) and bool(rest.strip())


def held_back(text: bytes | bytearray, endings: Sequence[bytes]) -> int:
    """How many bytes at the end of `text` might be the beginning of one of `endings`."""
    return max((_begun(text, ending) for ending in endings), default=0)


def _begun(text: bytes | bytearray, ending: bytes) -> int:
    """Length of the longest proper beginning of `ending` that `text` ends with."""
    return next((length for length in range(len(ending) - 1, 0, -1) if text.endswith(ending[:length])), 0)


def _first(text: bytearray, wanted: Sequence[bytes], known: int, start: int) -> int | None:
    """Where the first of `wanted` stands that ends after `known` bytes of `text` and begins at `start` or later."""
    found = (text.find(one, max(start, known - len(one) + 1)) for one in wanted)
    return min((place for place in found if place >= 0), default=None)
