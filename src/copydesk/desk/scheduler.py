"""Many answers at once: what all of them ask for goes into one engine call, and they join and leave at any pass.

Runs on one thread. Knows nothing of texts, schemas or how an answer is written.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Protocol

from copydesk.desk.prefixes import Prefixes, Tokens
from copydesk.desk.writer import Written
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.errors import CopydeskError, EngineError


@dataclass(frozen=True, slots=True)
class Effort:
    """What an answer took."""

    passes: int
    cached_tokens: int
    """Tokens of its prompt that needed no reading."""


class Job(Protocol):
    """An answer to be written."""

    @property
    def prefix(self) -> Tokens:
        """How its prompt begins."""

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Written]:
        """Write the answer in a sequence that already holds `held` tokens of the prompt.

        `others` tells how many other answers are in progress.
        """

    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""

    def finish(self, written: Written, effort: Effort) -> None:
        """Take the answer. What it raises is passed on to `fail`."""

    def fail(self, error: Exception) -> None:
        """Take the reason why there is none; called once, also for one that was cancelled."""


@dataclass(slots=True, eq=False)
class _Live:
    """An answer that is being written."""

    job: Job
    sequence: int
    held: int
    writing: Generator[Read, list[Scores], Written]
    read: Read
    """What is left to read before the answer goes on."""
    number: int
    """How many answers joined before it."""
    passes: int = 0


class Scheduler:
    """Writes jobs in the order they came, as many at a time as fit."""

    def __init__(
        self,
        engine: Engine,
        *,
        most_live: int = 64,
        tokens_per_call: int = 4096,
        took: Callable[[int, int, float], None] | None = None,
    ) -> None:
        """At most `most_live` answers are in progress, and at most `tokens_per_call` tokens go into an engine call.

        `took` is told of each call: tokens read, tokens scored, and seconds taken with all that followed.
        """
        self._engine = engine
        self._most_live = most_live
        self._limit = most_live
        """As many as are let in for now: fewer once the engine had no room for them."""
        self._joined = 0
        self._tokens_per_call = tokens_per_call
        self._took = took
        self._prefixes = Prefixes(engine)
        self._waiting: deque[Job] = deque()
        self._live: deque[_Live] = deque()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._waiting and not self._live

    def add(self, job: Job) -> None:
        """Write this as well, after those that already wait."""
        self._waiting.append(job)

    def step(self) -> None:
        """One engine call for the answers in progress, and whatever follows from it."""
        for live in [live for live in self._live if live.job.is_cancelled()]:
            self._fail(live, CancelledError())
        self._admit()
        called, reads = self._gather()
        if not called:
            return
        started = time.perf_counter()
        try:
            results = self._engine.run(reads)
        except Exception as error:
            if isinstance(error, EngineError) and error.code == "cache_full" and len(self._live) > 1:
                self._make_room()
                return
            for live in called:
                self._fail(live, _engine_error(error))
            return
        for live, read, scores in zip(called, reads, results, strict=True):
            live.passes += 1
            if read is live.read:
                self._go_on(live, scores)
            else:
                live.read = _rest(live.read, len(read.tokens))
        if self._took:
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

    def _admit(self) -> None:
        while self._waiting and len(self._live) < self._limit:
            job = self._waiting[0]
            if job.is_cancelled():
                job.fail(CancelledError())
            elif self._prefixes.awaited(job.prefix):
                return
            else:
                self._join(job)
            self._waiting.popleft()

    def _make_room(self) -> None:
        """Put the younger half back in the queue, to be begun again; the older ones go on with what they hold."""
        live = sorted(self._live, key=lambda live: live.number)
        for younger in reversed(live[len(live) // 2 :]):
            self._leave(younger)
            self._waiting.appendleft(younger.job)
        self._limit = len(self._live)

    def _join(self, job: Job) -> None:
        try:
            sequence, held = self._prefixes.open(job.prefix)
        except Exception as error:
            job.fail(_engine_error(error))
            return
        writing = job.write(self._engine, sequence, held, lambda: len(self._live) - 1)
        live = _Live(job, sequence, held, writing, Read(sequence, ()), self._joined)
        self._joined += 1
        self._live.append(live)
        self._advance(live, lambda: next(writing))

    def _gather(self) -> tuple[list[_Live], list[Read]]:
        """Whose turn it is, and what they read: those served longest ago first, a long prompt in parts."""
        called: list[_Live] = []
        reads: list[Read] = []
        left = self._tokens_per_call
        for live in list(self._live):
            read = live.read
            unscored = read.wanted[0].position
            if len(read.tokens) > left and min(left, unscored):
                read = Read(live.sequence, read.tokens[: min(left, unscored)])
            elif len(read.tokens) > left and called:
                break
            called.append(live)
            reads.append(read)
            left -= len(read.tokens)
            if left <= 0:
                break
        self._live.rotate(-len(called))
        return called, reads

    def _go_on(self, live: _Live, scores: list[Scores]) -> None:
        """Hand an answer its scores."""
        if not live.held and self._prefixes.awaited(live.job.prefix):
            self._prefixes.keep(live.job.prefix, live.sequence)
        self._advance(live, lambda: live.writing.send(scores))

    def _advance(self, live: _Live, step: Callable[[], Read]) -> None:
        try:
            live.read = step()
            return
        except StopIteration as stop:
            written = stop.value
        except Exception as error:
            self._fail(live, error)
            return
        self._finish(live, written)

    def _finish(self, live: _Live, written: Written) -> None:
        self._leave(live)
        self._limit = min(self._limit + 1, self._most_live)
        try:
            live.job.finish(written, Effort(live.passes, live.held))
        except Exception as error:
            live.job.fail(error)

    def _fail(self, live: _Live, error: Exception) -> None:
        self._leave(live)
        live.job.fail(error)

    def _leave(self, live: _Live) -> None:
        self._live.remove(live)
        live.writing.close()
        if not live.held:
            self._prefixes.forgo(live.job.prefix)
        self._engine.release(live.sequence)


def _rest(read: Read, count: int) -> Read:
    """What is left of a read after `count` tokens, none of them scored."""
    wanted = tuple(replace(wanted, position=wanted.position - count) for wanted in read.wanted)
    return Read(read.sequence, read.tokens[count:], wanted)


def _engine_error(error: Exception) -> Exception:
    if isinstance(error, CopydeskError):
        return error
    return EngineError(f"The engine failed: {error!r}.", code="engine_failed")
