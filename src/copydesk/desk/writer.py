"""One answer in the making: it asks for tokens to be read and, given their scores, lets stand, corrects and goes on.

A generator: whoever runs it gathers what many of them ask for into one engine call. Knows nothing of schemas, texts or
other answers.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from copydesk.desk.canonical import Canonical
from copydesk.desk.choosing import Choosing
from copydesk.desk.closing import Closing
from copydesk.desk.drafts import Drafts
from copydesk.desk.proposal import Proposal
from copydesk.desk.state import State
from copydesk.engines.protocol import Engine, Read, Scores, Wanted

_NEAR_THE_END = 32
"""Tokens, beside twice the shortest answer, from which on every token is checked to leave room for an end."""


@dataclass(slots=True)
class Written:
    """A finished answer as tokens, and what the model said of them."""

    tokens: list[int] = field(default_factory=list)
    probabilities: dict[int, float] = field(default_factory=dict)
    """Of the open tokens, by their index: the model's own probability, 0 for one chosen only to come to an end."""
    kept: int = 0
    """Open tokens that the draft proposed and the model let stand."""
    drafted: dict[int, bool] = field(default_factory=dict)
    """For the open tokens that the draft had a proposal for, by their index: whether it was theirs."""


@dataclass(slots=True)
class _Ahead:
    """What may follow if the draft is right."""

    state: State
    proposal: Proposal | None
    tokens: list[int] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    """Indices into `tokens` where the model chooses; the last may be just past its end."""
    places: list[int | None] = field(default_factory=list)
    """For each of them, where the draft stands there."""
    ways_out: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """Near the end of the room: lengths of the answer on the way, and the tokens that complete it from there."""


class Writer:
    """Writes one answer into one sequence of an engine."""

    def __init__(
        self,
        state: State,
        prompt: Sequence[int],
        room: int,
        shortest: Sequence[int],
        *,
        engine: Engine,
        sequence: int,
        canonical: Canonical,
        closing: Closing,
        choosing: Choosing,
        drafts: Drafts | None = None,
    ) -> None:
        """`prompt` is what of the prompt the sequence has not read, at least a token; `room` the most answer tokens.

        `shortest` is the shortest answer, as `closing` gives it; it fits into `room`.
        """
        self._state = state
        self._unread = list(prompt)
        self._room = room
        self._engine = engine
        self._sequence = sequence
        self._canonical = canonical
        self._closing = closing
        self._choosing = choosing
        self._drafts = drafts
        self._proposal: Proposal | None = None
        self._written = Written()
        self._way_out = (0, tuple(shortest))
        """A length of the answer, and the tokens that complete it from there."""
        self._careful_from = room - min(room, 2 * len(shortest) + _NEAR_THE_END)

    def run(self) -> Generator[Read, list[Scores], Written]:
        """Yields what to read next, receives its scores, returns the answer."""
        self._force()
        while not self._state.finished:
            ahead = self._look_ahead(self._plan())
            read = Read(self._sequence, (*self._unread, *ahead.tokens[: ahead.open[-1]]), self._wanted(ahead))
            self._judge(ahead, (yield read))
            self._force()
            if not self._leaves_room():
                break
        return self._written

    def _force(self) -> None:
        """Take in what can only come next."""
        tokens = self._state.forced()
        if tokens:
            self._written.tokens += tokens
            self._unread += tokens
            if self._proposal:
                self._proposal.follow(self._canonical.text(tokens))

    def _plan(self) -> int:
        """Get another draft if need be; returns how many of its tokens to read at most."""
        if self._drafts is None:
            return 0
        proposal = self._proposal
        if proposal is None or proposal.lost or (proposal.used_up and not self._may_end()):
            self._proposal = self._drafts.propose(self._canonical.text(self._written.tokens))
        return self._drafts.length(self._proposal, len(self._unread))

    def _may_end(self) -> bool:
        """Whether the end token that a draft proposes after its last is legal."""
        token = self._proposal.next() if self._proposal else None
        return token is not None and self._state.allows(token)

    def _look_ahead(self, most: int) -> _Ahead:
        """Follow the draft as far as it is legal, through at most so many open tokens."""
        proposal = self._proposal.at(self._proposal.place) if self._proposal else None
        ahead = _Ahead(self._state.copy(), proposal)
        start = len(self._written.tokens)
        while not ahead.state.finished:
            length = start + len(ahead.tokens)
            if ahead.tokens and length >= self._careful_from:
                written = (*self._written.tokens, *ahead.tokens)
                way_out = self._closing.of(ahead.state, written, self._room - length)
                if way_out is None:
                    break
                ahead.ways_out.append((length, way_out))
            ahead.open.append(len(ahead.tokens))
            ahead.places.append(proposal.place if proposal else None)
            token = proposal.next() if proposal and len(ahead.open) <= most else None
            if proposal is None or token is None or not ahead.state.accept(token):
                break
            proposal.follow(self._canonical.text((token,)))
            forced = ahead.state.forced()
            ahead.tokens += (token, *forced)
            if forced:
                proposal.follow(self._canonical.text(forced))
        return ahead

    def _wanted(self, ahead: _Ahead) -> tuple[Wanted, ...]:
        before = len(self._unread) - 1
        return tuple(Wanted(before + index) for index in ahead.open)

    def _judge(self, ahead: _Ahead, scores: Sequence[Scores]) -> None:
        """Let stand what the model would have chosen itself; at the first token that it would not, its own goes in."""
        start = len(self._written.tokens)
        stood = self._stand(ahead, scores)
        self._written.kept += stood
        if ahead.proposal:
            ahead.proposal.stood(
                (ahead.tokens[index], place)
                for index, place in zip(ahead.open[:stood], ahead.places[:stood], strict=True)
            )
        reached = start + (ahead.open[stood] if stood < len(ahead.open) else len(ahead.tokens))
        self._way_out = max([self._way_out, *(way for way in ahead.ways_out if way[0] <= reached)])
        if self._drafts:
            drafted = sum(index < len(ahead.tokens) for index in ahead.open)
            self._drafts.judge(drafted, stood, ahead.open[-1])
        if stood < len(ahead.open):
            return
        self._unread = ahead.tokens[ahead.open[-1] :]
        self._written.tokens += ahead.tokens
        self._state, self._proposal = ahead.state, ahead.proposal

    def _stand(self, ahead: _Ahead, scores: Sequence[Scores]) -> int:
        """Returns how many drafted tokens stand, having corrected the one after them if not all do."""
        start = len(self._written.tokens)
        for number, (index, score) in enumerate(zip(ahead.open, scores, strict=True)):
            drafted = ahead.tokens[index] if index < len(ahead.tokens) else None
            if self._choosing.is_greedy and score.argmax == drafted:
                self._take(start + index, score.logprob, kept=True)
                continue
            preference = self._choosing.prefer(score, partial(self._row, index - ahead.open[-1] - 1), start + index)
            chosen = preference.first
            if chosen.token != drafted:
                ahead.state.rewind(len(ahead.tokens) - index)
                chosen = preference.within(ahead.state)
                for token in ahead.tokens[index:] if chosen.token == drafted else (chosen.token,):
                    ahead.state.accept(token)
            self._take(start + index, chosen.logprob, kept=None if drafted is None else chosen.token == drafted)
            if chosen.token != drafted:
                self._correct(ahead, number, chosen.token)
                return number
        return len(ahead.open)

    def _take(self, index: int, logprob: float, *, kept: bool | None) -> None:
        """Take note of what went in at an open position, and whether it was what a draft had there."""
        self._written.probabilities[index] = math.exp(min(0.0, logprob))
        if kept is not None:
            self._written.drafted[index] = kept

    def _correct(self, ahead: _Ahead, number: int, token: int) -> None:
        """Keep the draft up to an open position, then `token`."""
        index = ahead.open[number]
        excess = ahead.open[-1] - index
        if excess:
            self._engine.cut(self._sequence, self._engine.length(self._sequence) - excess)
        self._written.tokens += (*ahead.tokens[:index], token)
        self._unread = [token]
        self._state = ahead.state
        self._proposal = ahead.proposal.at(ahead.places[number]) if ahead.proposal else None
        if self._proposal:
            self._proposal.corrected(token, self._canonical.text((token,)))

    def _leaves_room(self) -> bool:
        """Whether the answer can still come to an end; if not, it is cut back to where it could, and ended."""
        tokens = self._written.tokens
        if len(tokens) < self._careful_from:
            return True
        way_out: tuple[int, ...] | None = ()
        if not self._state.finished or len(tokens) > self._room:
            way_out = self._closing.of(self._state, tokens, self._room - len(tokens))
        if way_out is not None:
            self._way_out = (len(tokens), way_out)
            return True
        length, way_out = self._way_out
        tokens[length:] = way_out
        for index in [index for index in self._written.probabilities if index >= length]:
            del self._written.probabilities[index]
        self._written.probabilities.update(dict.fromkeys(range(length, len(tokens)), 0.0))
        return False

    def _row(self, position: int) -> np.ndarray:
        # Counted from the end: of a long prompt the last pass may have read only a part.
        return self._engine.row(self._sequence, position)
