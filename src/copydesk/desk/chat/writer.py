"""One reply in the making: asks for tokens to be read and, given their scores, lets drafts stand, corrects and goes on.

A generator, as the writer of extractions is; beside that one it hands out text as it comes, keeps the log-probabilities
that a caller wants, and lets an engine decode a few tokens by itself where nothing but the model decides. Knows nothing
of conversations or of other replies.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from copydesk.desk.chat.continuations import Continuations
from copydesk.desk.chat.ending import Ending
from copydesk.desk.chat.outgoing import Outgoing
from copydesk.desk.chat.sampler import Sampler
from copydesk.desk.chat.state import ReplyState
from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.types import Delta, Finish, TokenLogprob

_AHEAD = 31
"""Tokens that an engine may decode by itself before it comes back; the first comes alone, for it is waited for."""
_UNKNOWN = -9999.0
"""The log-probability of a token that was put in without the model being asked, as OpenAI's API has it."""


@dataclass(slots=True)
class Progress:
    """What stands of a reply. A reply that had to make room for others is taken up again from it."""

    state: ReplyState
    outgoing: Outgoing
    tokens: list[int] = field(default_factory=list)
    length: int = 0
    """Bytes of their text."""
    handed_out: int = 0
    """Tokens that stood when text was last handed out."""
    opened: int = 0
    """Tokens that the model chose."""
    kept: int = 0
    """Those of them that a draft proposed."""
    finish: Finish = "stop"
    """What it ended by, or would if it ended here."""
    cut_short: bool = False
    """Whether its end was put in, in place of what the sequence had read."""


@dataclass(slots=True)
class _Ahead:
    """What may follow if the draft is right."""

    tokens: list[int] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    """Indices into `tokens` where the model chooses; the last may be just past its end."""
    wanted: list[int] = field(default_factory=list)
    """Indices that are scored."""
    decoding: int = 0
    """Tokens that the engine may decode after the last one scored."""
    stops: bool = False
    """Whether the reply ends or is looked after at the end of `tokens`, before anything that is forced there."""

    @property
    def read(self) -> int:
        """How many of the tokens are read: those up to the last index scored."""
        return self.wanted[-1] if self.wanted else 0


class ReplyWriter:
    """Writes one reply into one sequence of an engine."""

    def __init__(
        self,
        progress: Progress,
        unread: Sequence[int],
        room: int,
        *,
        engine: Engine,
        sequence: int,
        vocabulary: ReplyVocabulary,
        sampler: Sampler,
        emit: Callable[[Delta], None],
        ending: Ending | None = None,
        drafts: Continuations | None = None,
        logprobs: bool = False,
        top_logprobs: int = 0,
    ) -> None:
        """`unread` is what the sequence has not read of prompt and reply, at least a token; `room` the longest reply.

        `ending` looks after a constrained reply. `emit` is handed the text as it comes.
        """
        self._progress = progress
        self._state = progress.state
        self._tokens = progress.tokens
        self._unread = list(unread)
        self._room = room
        self._engine = engine
        self._sequence = sequence
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._emit = emit
        self._ending = ending
        self._drafts = drafts
        self._logprobs = logprobs
        self._top_logprobs = top_logprobs
        self._first = True
        self._note_phase()

    def run(self) -> Generator[Read, list[Scores], Progress]:
        """Yields what to read next, receives its scores, returns the finished reply.

        Errors: `LengthError` for a constrained reply that does not come to an end.
        """
        while not self._done:
            ahead = self._look_ahead()
            scores: list[Scores] = []
            if ahead.wanted:
                read = (*self._unread, *ahead.tokens[: ahead.read])
                scores = yield Read(self._sequence, read, self._wanted(ahead))
                self._first = False
            self._judge(ahead, scores)
            self._hand_out()
        self._state.settle()
        if not self._state.finished:
            if self._ending:
                raise self._ending.error()
            self._progress.finish = "length"
        self._hand_out(last=True)
        return self._progress

    @property
    def _done(self) -> bool:
        return self._state.finished or len(self._tokens) >= self._room

    def _look_ahead(self) -> _Ahead:
        """Follow what is forced and what is drafted, and come back to where the reply stands."""
        state, start = self._state, len(self._tokens)
        ahead = _Ahead()
        drafts: list[int] | None = None
        place = 0
        while True:
            forced = list(state.forced())
            ahead.tokens += forced
            if drafts and forced:
                place = place + len(forced) if drafts[place : place + len(forced)] == forced else len(drafts)
            if state.finished or start + len(ahead.tokens) >= self._room:
                break
            ahead.open.append(len(ahead.tokens))
            if drafts is None:
                drafts = self._drafts.propose(len(self._unread) + len(forced), forced) if self._drafts else []
            if place >= len(drafts) or not state.accept(drafts[place]):
                break
            ahead.tokens.append(drafts[place])
            place += 1
            if self._is_halted_at(start + len(ahead.tokens)):
                ahead.stops = True
                break
        state.rewind(len(ahead.tokens))
        ahead.wanted = list(range(max([*ahead.open, len(ahead.tokens) - 1]) + 1)) if self._logprobs else ahead.open
        if not ahead.tokens and self._may_decode:
            ahead.decoding = min(_AHEAD, self._room - start - 1)
        return ahead

    def _is_halted_at(self, length: int) -> bool:
        """Whether a reply ends at this length, or is looked after there before it goes on."""
        if length >= self._room or self._ending is None or self._state.grammar is None:
            return length >= self._room
        return not self._ending.begun or length >= self._ending.next_check

    @property
    def _may_decode(self) -> bool:
        """Whether the engine may go on by itself: the model alone decides, and the first token is out."""
        return not self._first and self._ending is None and self._sampler.plain and not self._logprobs

    def _wanted(self, ahead: _Ahead) -> tuple[Wanted, ...]:
        before = len(self._unread) - 1
        top = max(self._sampler.top, self._top_logprobs)
        # A forced token's log-probability has to be asked for; a chosen one's is known.
        listed = [(ahead.tokens[index],) if index not in ahead.open else () for index in ahead.wanted]
        wanted = [Wanted(before + index, own, top) for index, own in zip(ahead.wanted, listed, strict=True)]
        if ahead.decoding:
            wanted[-1] = replace(wanted[-1], ahead=ahead.decoding)
        return tuple(wanted)

    def _judge(self, ahead: _Ahead, scores: Sequence[Scores]) -> None:
        """Let stand what the model would have chosen itself; at the first token that it would not, its own goes in."""
        by_index = dict(zip(ahead.wanted, scores, strict=True))
        index = stood = 0
        agrees = True
        while agrees:
            for token in self._state.forced():
                self._append(token, by_index.get(index))
                index += 1
            self._note_phase()
            if self._done or index not in ahead.open:
                break
            token = self._choose(by_index[index], index - ahead.read - 1)
            agrees = index < len(ahead.tokens) and token == ahead.tokens[index]
            if agrees:
                index += 1
                stood += 1
                if ahead.stops and index == len(ahead.tokens):
                    break
        self._progress.kept += stood
        if self._drafts:
            self._drafts.judge(sum(place < len(ahead.tokens) for place in ahead.open), stood, ahead.read)
        if agrees:
            self._unread = ahead.tokens[ahead.read :] or self._unread
        else:
            self._unread = [token]
            self._cut(ahead.read - index + self._take_decoded(token, by_index[index]))
        self._look_after()

    def _choose(self, score: Scores, position: int) -> int:
        """Append the token that the sampler chooses; `position` says where its row is, from the end of the pass."""
        row = partial(self._engine.row, self._sequence, position)
        chosen = self._sampler.choose(score, row, len(self._tokens), self._state)
        self._state.accept(chosen.token)
        self._append(chosen.token, score, chosen.logprob)
        self._note_phase()
        self._progress.opened += 1
        return chosen.token

    def _take_decoded(self, token: int, score: Scores) -> int:
        """Append what the engine decoded after `token`; returns how many tokens too many its sequence holds then."""
        if not score.ahead:
            return 0
        taken = 0
        if token == score.argmax:
            for decoded, logprob in score.ahead:
                if self._done or self._state.reasoned_enough or not self._state.accept(decoded):
                    break
                self._append(decoded, score, logprob)
                self._note_phase()
                self._progress.opened += 1
                self._unread = [decoded]
                taken += 1
        return len(score.ahead) - taken

    def _cut(self, excess: int) -> None:
        """Have the sequence forget its last tokens."""
        if excess:
            self._engine.cut(self._sequence, self._engine.length(self._sequence) - excess)

    def _append(self, token: int, score: Scores | None, logprob: float | None = None) -> None:
        """Take note of a token that the state has accepted."""
        progress = self._progress
        text = self._vocabulary.text(token)
        if self._logprobs and text:
            if logprob is None:
                logprob = score.listed[0] if score else _UNKNOWN
            top = score.top[: self._top_logprobs] if score else ()
            written = tuple((self._vocabulary.written(other), own) for other, own in top)
            progress.outgoing.add(progress.length, progress.length + len(text), TokenLogprob(text, logprob, written))
        progress.length += len(text)
        self._tokens.append(token)
        self._sampler.took(token)
        if self._drafts:
            self._drafts.took((token,))

    def _note_phase(self) -> None:
        """Where the content begins, the caller's guess at it begins, and what looks after a constrained one."""
        if self._drafts:
            self._drafts.note_content(self._state.reasoning is None or self._state.content is not None)
        if self._ending and not self._ending.begun and self._state.grammar is not None:
            self._ending.begin(len(self._tokens) - self._state.within)

    def _look_after(self) -> None:
        """See to it that a constrained reply can still come to an end; if it cannot, bring it to one."""
        ending, grammar = self._ending, self._state.grammar
        if ending is None or grammar is None or len(self._tokens) < ending.next_check:
            return
        if ending.check(grammar, self._tokens, self._state.within) or ending.checked < self._progress.handed_out:
            return
        self._progress.cut_short = True
        self._take_back(len(self._tokens) - ending.checked)
        for token in self._state.forced():
            self._append(token, None)
        way_out = ending.way_out(self._state.grammar or grammar, self._tokens, self._state.within)
        if way_out is None:
            raise ending.error()
        for token in way_out:
            self._state.accept(token)
            self._append(token, None)
        self._progress.finish = "length"

    def _take_back(self, count: int) -> None:
        self._state.rewind(count)
        del self._tokens[len(self._tokens) - count :]
        self._progress.length = len(self._state.text)
        self._progress.outgoing.retract(self._progress.length)

    def _hand_out(self, *, last: bool = False) -> None:
        delta = self._progress.outgoing.next(self._state, last=last)
        if delta:
            self._emit(delta)
        self._progress.handed_out = len(self._tokens)
