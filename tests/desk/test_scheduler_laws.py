"""A scheduler over a very long time, on an engine that is short of room: no leak, no starvation, order kept."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError

import numpy as np
import pytest

from copydesk.desk.scheduler import Asked, Scheduler
from copydesk.desk.writer import Written
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.errors import EngineError, LengthError, UsageError
from fake_engine import FakeEngine
from law_cases import steps

from .scheduled import BranchJob, Job

SIZE = 50
"""Of the vocabulary."""
LIVE, TOKENS, BRANCHES = 7, 20, 5
"""What goes on at a time."""
KEPT = 16
"""Sequences that may stay for later answers: beginnings of prompts, and earlier conversations."""
ROOM, SEQUENCES = 300, 16
_ROWS = [np.eye(SIZE)[token] * 9.0 for token in range(SIZE)]


def following(tokens: Sequence[int]) -> int:
    """What the model says next."""
    return hash(tuple(tokens)) % SIZE  # of whole numbers, the same in every process


class CrowdedEngine(FakeEngine):
    """Has room for so many tokens, copies counted, and for so many sequences; says so when there is no more.

    Now and then a call fails for no reason.
    """

    def __init__(self, chance: random.Random) -> None:
        super().__init__(SIZE, lambda tokens: _ROWS[following(tokens)])
        self.chance = chance
        self.owners: dict[int, int] = {}
        """By copied sequence, the one that it was copied from."""
        self.served: dict[int, int] = {}
        """By sequence, the call that read it last, itself or in a copy."""
        self.count = 0
        self.full = 0
        """How often there was no room."""

    def open(self) -> int:
        self._check_number()
        return super().open()

    def fork(self, sequence: int) -> int:
        self._check_number()
        copy = super().fork(sequence)
        self.owners[copy] = sequence
        return copy

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        held = sum(len(sequence.tokens) for sequence in self._sequences.values())
        if held + sum(len(read.tokens) for read in reads) > ROOM:
            self.full += 1
            raise EngineError("The KV cache is full.", code="cache_full")
        if self.chance.random() < 0.001:
            raise RuntimeError("a fault")
        self.count += 1
        for read in reads:
            self.served[read.sequence] = self.served[self.owners.get(read.sequence, read.sequence)] = self.count
        self.calls.clear()
        return super().run(reads)

    def release(self, sequence: int) -> None:
        super().release(sequence)
        self.owners.pop(sequence, None)
        self.served.pop(sequence, None)

    def _check_number(self) -> None:
        if len(self._sequences) >= SEQUENCES:
            self.full += 1
            raise EngineError("No sequence is free.", code="cache_full")


class Crowd:
    """Jobs that come and go at random, and what is wrong with how they were treated."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.engine = CrowdedEngine(self.chance)
        self.scheduler = Scheduler(self.engine, most_live=LIVE, tokens_per_call=TOKENS, branches_per_call=BRANCHES)
        self.waiting: dict[int, Job] = {}
        self.live: dict[int, tuple[Job, int, int]] = {}
        """The job, its sequence, and the engine's call before which it joined."""
        self.done = {"written": 0, "failed": 0, "cancelled": 0, "no room": 0}
        self.longest_unserved = 0
        self._number = 0

    def add(self) -> None:
        """A job of any kind, watched from its beginning to its end."""
        chance, number = self.chance, self._number
        self._number += 1
        error = LengthError("too long") if chance.random() < 0.02 else None
        prefix = tuple(range(chance.randint(0, 12)))
        prompt = chance.randint(1, 30)
        if chance.random() < 0.3:
            branches = [
                tuple(chance.randrange(SIZE) for _ in range(chance.randint(1, 6))) for _ in range(chance.randint(1, 9))
            ]
            job: Job = BranchJob(branches, prompt=prompt, prefix=prefix, error=error)
        else:
            job = Job(chance.randint(1, 5), prompt=prompt, prefix=prefix, error=error)
            if chance.random() < 0.2:
                job = Job(chance.randint(1, 5), prompt=40, prefix=prefix, error=error)
                job.conversation = job.prompt
        self._watch(job, number)
        self.waiting[number] = job
        self.scheduler.add(job)

    def step(self) -> None:
        """Perhaps a job comes or is cancelled; then a step, and a look at what is held."""
        chance = self.chance
        while len(self.waiting) < 20 and chance.random() < 0.4:
            self.add()
        if self.live and chance.random() < 0.02:
            chance.choice(list(self.live.values()))[0].cancelled = True
        if self.waiting and chance.random() < 0.01:
            chance.choice(list(self.waiting.values())).cancelled = True
        self.scheduler.step()
        assert self.engine.open_sequences <= len(self.live) + KEPT
        for _, sequence, joined in self.live.values():
            since = self.engine.count - max(self.engine.served.get(sequence, 0), joined)
            self.longest_unserved = max(self.longest_unserved, since)

    def _watch(self, job: Job, number: int) -> None:
        write = job.write

        def watched(
            engine: Engine, sequence: int, held: int, others: Callable[[], int]
        ) -> Generator[Asked, list[Scores], Written]:
            job.seen = []
            return self._writing(number, sequence, write(engine, sequence, held, others))

        def finish(written: Written, effort: object) -> None:
            self.done["written"] += 1
            assert not job.error
            assert [score.argmax for score in job.seen] == right(job)

        def fail(error: Exception) -> None:
            full = isinstance(error, EngineError) and error.code == "cache_full"
            kind = "cancelled" if isinstance(error, CancelledError) else "no room" if full else "failed"
            self.done[kind] += 1
            assert job.cancelled == (kind == "cancelled") or job.error
            self.waiting.pop(number, None)

        job.write, job.finish, job.fail = watched, finish, fail  # type: ignore[method-assign,assignment]

    def _writing(
        self, number: int, sequence: int, writing: Generator[Asked, list[Scores], Written]
    ) -> Generator[Asked, list[Scores], Written]:
        job = self.waiting.pop(number)
        assert all(number < other for other, one in self.waiting.items() if not one.cancelled), "out of order"
        self.live[number] = (job, sequence, self.engine.count)
        try:
            return (yield from writing)
        except GeneratorExit:  # it has failed, or is to be begun again
            self.waiting[number] = job
            raise
        finally:
            del self.live[number]


def right(job: Job) -> list[int]:
    """What a job sees if it is the only one."""
    tokens, seen = list(job.prompt), []
    passes = 2 if isinstance(job, BranchJob) else job.passes
    for number in range(passes):
        seen.append(following(tokens))
        branched = isinstance(job, BranchJob) and number == 0
        tokens.append(following((*tokens, job.branches[0][0])) if branched else seen[-1])  # type: ignore[attr-defined]
    return seen


@pytest.mark.long
def test_many_steps_leak_nothing_starve_nobody_and_keep_the_order() -> None:
    crowd, many = Crowd(seed=1), steps(3000)
    before = 0
    for step in range(many):
        crowd.step()
        if step == many // 4:
            gc.collect()
            before = len(gc.get_objects())
    gc.collect()
    assert len(gc.get_objects()) < before + 2000
    while not crowd.scheduler.idle:
        crowd.scheduler.step()
    crowd.scheduler.close(UsageError("done"))
    print(many, "steps:", crowd.done, "no room:", crowd.engine.full, "longest unserved:", crowd.longest_unserved)
    assert crowd.engine.open_sequences == 0
    assert not crowd.live
    assert not crowd.waiting
    assert sum(crowd.done.values()) == crowd._number
    assert crowd.done["written"] > 0.7 * crowd._number
    assert crowd.longest_unserved <= LIVE
