"""Many answers at once: what all of them ask for goes into one engine call, and they join and leave at any pass.

Runs on one thread. Knows nothing of texts, schemas or how an answer is written.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypeVar

from copydesk.desk.earlier import Earlier
from copydesk.desk.prefixes import Prefixes, Tokens
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.errors import CopydeskError, EngineError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Effort:
    """What an answer took."""

    passes: int
    cached_tokens: int
    """Tokens of its prompt that needed no reading."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Tokens to read after all that a job's sequence holds, in a copy that is given up right after the call."""

    tokens: Tokens
    wanted: tuple[Wanted, ...]


Asked: TypeAlias = Read | tuple[Branch, ...]
"""What a job asks for: one pass of its own sequence, or branches off it. At least one position of each is wanted."""


class Job(Protocol[Result]):
    """An answer to be written."""

    @property
    def prefix(self) -> Tokens:
        """How its prompt begins."""

    @property
    def conversation(self) -> Tokens:
        """All tokens of prompt and answer so far, if what comes later may begin with them; else none."""

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Asked, list[Scores], Result]:
        """Write the answer in a sequence that already holds `held` tokens of the prompt.

        It is sent the scores of all positions that it wanted, in order. `others` tells how many other answers are in
        progress.
        """

    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""

    def finish(self, written: Result, effort: Effort) -> None:
        """Take the answer. What it raises is passed on to `fail`."""

    def fail(self, error: Exception) -> None:
        """Take the reason why there is none; called once, also for one that was cancelled."""


@dataclass(slots=True, eq=False)
class _Live:
    """An answer that is being written."""

    job: Job[Any]
    sequence: int
    held: int
    writing: Generator[Asked, list[Scores], Any]
    number: int
    """How many answers joined before it."""
    unread: deque[Read | Branch] = field(default_factory=deque)
    """What is left to read before the answer goes on."""
    scores: list[Scores] = field(default_factory=list)
    """Of what was asked for and has been read."""
    passes: int = 0


Turn: TypeAlias = tuple[_Live, Read | Branch]
"""An answer, and what is read for it in a call: what it asked for next, or the beginning of a long prompt."""


class Scheduler:
    """Writes jobs in the order they came, as many at a time as fit."""

    def __init__(
        self,
        engine: Engine,
        *,
        most_live: int = 64,
        tokens_per_call: int = 4096,
        branches_per_call: int = 256,
        took: Callable[[int, int, float], None] | None = None,
    ) -> None:
        """At most `most_live` answers are in progress; into an engine call go at most `tokens_per_call` tokens (more
        only if a single read has more that cannot be parted) and `branches_per_call` branches.

        `took` is told of each call: tokens read, tokens scored, and seconds taken with all that followed.
        """
        self._engine = engine
        self._most_live = most_live
        self._limit = most_live
        """As many as are let in for now: fewer once the engine had no room for them."""
        self._joined = 0
        self._tokens_per_call = tokens_per_call
        self._most_branches = branches_per_call
        self._branches = branches_per_call
        """As many as go into a call for now: fewer once the engine had no room for them."""
        self._took = took
        self._prefixes = Prefixes(engine)
        self._earlier = Earlier(engine)
        self._waiting: deque[Job[Any]] = deque()
        self._live: deque[_Live] = deque()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._waiting and not self._live

    def add(self, job: Job[Any]) -> None:
        """Write this as well, after those that already wait."""
        self._waiting.append(job)

    def step(self) -> None:
        """One engine call for the answers in progress, and whatever follows from it."""
        for live in [live for live in self._live if live.job.is_cancelled()]:
            self._fail(live, CancelledError())
        self._admit()
        turns = self._gather()
        if not turns:
            return
        started = time.perf_counter()
        reads: list[Read] = []
        try:
            for live, asked in turns:
                reads.append(self._read(live, asked))
            results = self._engine.run(reads)
        except Exception as error:
            self._not_read(turns, error)
            return
        finally:
            for (live, _), read in zip(turns, reads, strict=False):  # fewer reads where a copy could not be had
                if read.sequence != live.sequence:
                    self._engine.release(read.sequence)
        self._live.rotate(-len({live.number for live, _ in turns}))
        for (live, asked), scores in zip(turns, results, strict=True):
            self._take_in(live, asked, scores)
        if self._took and not any(map(_decoded, results)):
            tokens, scored = sum(len(read.tokens) for read in reads), sum(len(read.wanted) for read in reads)
            self._took(tokens, scored, time.perf_counter() - started)

    def close(self, reason: Exception) -> None:
        """Fail all jobs that are left and release every sequence."""
        for job in self._waiting:
            job.fail(reason)
        self._waiting.clear()
        for live in list(self._live):
            self._fail(live, reason)
        self._prefixes.clear()
        self._earlier.clear()

    def _admit(self) -> None:
        while self._waiting and len(self._live) < self._limit:
            job = self._waiting[0]
            if job.is_cancelled():
                job.fail(CancelledError())
            elif self._prefixes.awaited(job.prefix) or not self._join(job):
                return
            self._waiting.popleft()

    def _not_read(self, turns: Sequence[Turn], error: Exception) -> None:
        """Fail the answers of a call that failed, unless there may be room for a smaller one."""
        full = _is_full(error)
        branches = sum(isinstance(asked, Branch) for _, asked in turns)
        if full and self._earlier.clear():
            return
        if full and branches > 1:
            self._branches = branches // 2
        elif full and len(self._live) > 1:
            self._make_room()
        elif not (full and self._prefixes.clear()):
            for live in dict.fromkeys(live for live, _ in turns):
                self._fail(live, _engine_error(error))

    def _make_room(self) -> None:
        """Put the younger half back in the queue, to be begun again; the older ones go on with what they hold."""
        live = sorted(self._live, key=lambda live: live.number)
        for younger in reversed(live[len(live) // 2 :]):
            self._leave(younger)
            self._waiting.appendleft(younger.job)
        self._limit = len(self._live)

    def _join(self, job: Job[Any]) -> bool:
        """Begin a job, or fail it; returns whether it need not wait until there is room for it."""
        try:
            sequence, held = self._open(job)
        except Exception as error:
            if _is_full(error) and (self._earlier.clear() or self._live or self._prefixes.clear()):
                return False
            job.fail(_engine_error(error))
            return True
        writing = job.write(self._engine, sequence, held, lambda: len(self._live) - 1)
        live = _Live(job, sequence, held, writing, self._joined)
        self._joined += 1
        self._live.append(live)
        self._advance(live, lambda: next(writing))
        return True

    def _open(self, job: Job[Any]) -> tuple[int, int]:
        """A sequence for a job, and how many tokens of its prompt it already holds."""
        found = self._earlier.take(job.conversation, len(job.prefix)) if job.conversation else None
        return found or self._prefixes.open(job.prefix)

    def _gather(self) -> list[Turn]:
        """Whose turn it is, and for what: those served longest ago first, a long prompt in parts."""
        turns: list[Turn] = []
        tokens, branches = self._tokens_per_call, self._branches
        for live in self._live:
            before = len(turns)
            for asked in live.unread:
                part = _fitting(asked, tokens, branches, anyway=not turns)
                if part is None:
                    break
                turns.append((live, part))
                tokens -= len(part.tokens)
                branches -= isinstance(part, Branch)
            if tokens <= 0 or len(turns) == before:
                break
        return turns

    def _read(self, live: _Live, asked: Read | Branch) -> Read:
        if isinstance(asked, Read):
            return asked
        return Read(self._engine.fork(live.sequence), asked.tokens, asked.wanted)

    def _take_in(self, live: _Live, asked: Read | Branch, scores: list[Scores]) -> None:
        """Take note of what was read for an answer, and let it go on once all is there that it asked for."""
        live.passes += 1 + _decoded(scores)
        if asked is not live.unread[0]:
            live.unread[0] = _rest(live.unread[0], len(asked.tokens))
            return
        live.unread.popleft()
        live.scores += scores
        if live.unread:
            return
        if isinstance(asked, Branch):
            self._branches = min(self._branches + 1, self._most_branches)
        elif not live.held and self._prefixes.awaited(live.job.prefix):
            self._prefixes.keep(live.job.prefix, live.sequence)
        given, live.scores = live.scores, []
        self._advance(live, lambda: live.writing.send(given))

    def _advance(self, live: _Live, step: Callable[[], Asked]) -> None:
        try:
            asked = step()
        except StopIteration as stop:
            self._finish(live, stop.value)
        except Exception as error:
            self._fail(live, error)
        else:
            live.unread.extend((asked,) if isinstance(asked, Read) else asked)

    def _finish(self, live: _Live, written: Any) -> None:
        self._leave(live, live.job.conversation)
        self._limit = min(self._limit + 1, self._most_live)
        try:
            live.job.finish(written, Effort(live.passes, live.held))
        except Exception as error:
            live.job.fail(error)

    def _fail(self, live: _Live, error: Exception) -> None:
        self._leave(live)
        live.job.fail(error)

    def _leave(self, live: _Live, conversation: Tokens = ()) -> None:
        self._live.remove(live)
        live.writing.close()
        if not live.held:
            self._prefixes.forgo(live.job.prefix)
        if conversation:
            self._earlier.keep(conversation, live.sequence)
        else:
            self._engine.release(live.sequence)


def _fitting(asked: Read | Branch, tokens: int, branches: int, *, anyway: bool) -> Read | Branch | None:
    """As much of a read as can go into a call with room for so many tokens and branches; None if nothing.

    What cannot be read in parts goes `anyway` if the call has nothing else.
    """
    if len(asked.tokens) <= tokens:
        fits = isinstance(asked, Read) or branches > 0
    elif isinstance(asked, Read) and (count := min(tokens, asked.wanted[0].position)) > 0:
        return Read(asked.sequence, asked.tokens[:count])
    else:
        fits = anyway
    return asked if fits else None


def _rest(asked: Read | Branch, count: int) -> Read | Branch:
    """What is left of a read after `count` tokens, none of them scored."""
    wanted = tuple(replace(wanted, position=wanted.position - count) for wanted in asked.wanted)
    return replace(asked, tokens=asked.tokens[count:], wanted=wanted)


def _decoded(scores: Sequence[Scores]) -> int:
    """How many tokens the engine went on by itself, each in a pass of its own."""
    return len(scores[-1].ahead) if scores else 0


def _is_full(error: Exception) -> bool:
    return isinstance(error, EngineError) and error.code == "cache_full"


def _engine_error(error: Exception) -> Exception:
    if isinstance(error, CopydeskError):
        return error
    return EngineError(f"The engine failed: {error!r}.", code="engine_failed")
