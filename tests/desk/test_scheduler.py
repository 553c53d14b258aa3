"""Many answers through one engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError

import pytest

from copydesk.desk.scheduler import Effort, Scheduler
from copydesk.desk.writer import Written
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.errors import EngineError, LengthError, UsageError
from fake_engine import FakeEngine, hashed


class Job:
    """Reads a prompt, then one token for each of its passes."""

    def __init__(
        self, passes: int = 2, *, prompt: int = 3, prefix: tuple[int, ...] = (1, 2), error: Exception | None = None
    ) -> None:
        self.prefix = prefix
        self.passes = passes
        self.prompt = (*prefix, *range(5, 5 + prompt))
        self.error = error
        self.cancelled = False
        self.result: Written | Exception | None = None
        self.effort: Effort | None = None
        self.seen: list[Scores] = []

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Written]:
        tokens = self.prompt[held:]
        for _ in range(self.passes):
            (scores,) = yield Read(sequence, tokens, (Wanted(len(tokens) - 1),))
            self.seen.append(scores)
            if self.error:
                raise self.error
            tokens = (scores.argmax,)
        return Written([scores.argmax for scores in self.seen])

    def is_cancelled(self) -> bool:
        return self.cancelled

    def finish(self, written: Written, effort: Effort) -> None:
        self.result, self.effort = written, effort

    def fail(self, error: Exception) -> None:
        self.result = error


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(50, hashed(50))


def finish(scheduler: Scheduler) -> None:
    while not scheduler.idle:
        scheduler.step()


def test_answers_are_written_together(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    jobs = [Job(3) for _ in range(5)]
    for job in jobs:
        scheduler.add(job)
    finish(scheduler)
    assert engine.calls == [1, 5, 5, 4]  # the first reads the prefix that the others then fork
    assert all(isinstance(job.result, Written) for job in jobs)
    assert [job.effort for job in jobs] == [Effort(3, 0), *[Effort(3, 2)] * 4]


def test_an_answer_is_the_same_alone_and_among_others(engine: FakeEngine) -> None:
    alone = Job(4)
    scheduler = Scheduler(engine)
    scheduler.add(alone)
    finish(scheduler)
    together = [Job(passes) for passes in (2, 4, 6)]
    for job in together:
        scheduler.add(job)
    finish(scheduler)
    assert together[1].seen == alone.seen


def test_answers_join_and_leave_at_any_pass(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    scheduler.add(Job(5))
    scheduler.step()
    scheduler.add(Job(2))
    finish(scheduler)
    assert engine.calls == [1, 2, 2, 1, 1]


def test_only_so_many_are_in_progress_and_those_that_wait_come_in_order(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, most_live=2)
    jobs = [Job(2, prefix=()) for _ in range(5)]
    order: list[int] = []
    for number, job in enumerate(jobs):
        job.finish = lambda written, effort, number=number: order.append(number)  # type: ignore[method-assign]
        scheduler.add(job)
    finish(scheduler)
    assert max(engine.calls) == 2
    assert order == [0, 1, 2, 3, 4]


def test_a_long_prompt_is_read_in_parts_while_others_go_on(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, tokens_per_call=10)
    long, short = Job(2, prompt=35, prefix=(1,)), Job(8, prompt=2, prefix=(2,))
    scheduler.add(long)
    scheduler.add(short)
    finish(scheduler)
    assert isinstance(long.result, Written)
    assert isinstance(short.result, Written)
    assert long.effort is not None
    assert long.effort.passes > 4
    alone = Job(2, prompt=35, prefix=(1,))
    single = Scheduler(engine)
    single.add(alone)
    finish(single)
    assert alone.seen == long.seen


def test_no_answer_starves(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, tokens_per_call=3)
    jobs = [Job(6, prompt=1, prefix=()) for _ in range(9)]
    for job in jobs:
        scheduler.add(job)
    for _ in range(9):
        scheduler.step()
    progress = [len(job.seen) for job in jobs]
    assert max(progress) - min(progress) <= 1


def test_a_cancelled_answer_leaves_no_trace(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    jobs = [Job(5, prefix=()) for _ in range(3)]
    for job in jobs:
        scheduler.add(job)
    scheduler.step()
    jobs[1].cancelled = True
    scheduler.step()
    assert engine.open_sequences == 2
    finish(scheduler)
    assert engine.open_sequences == 0
    assert isinstance(jobs[1].result, CancelledError)


def test_others_do_not_wait_for_a_prefix_whose_reader_was_cancelled(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, tokens_per_call=2)
    first, second = Job(prompt=9), Job()
    scheduler.add(first)
    scheduler.add(second)
    scheduler.step()
    first.cancelled = True
    finish(scheduler)
    assert isinstance(second.result, Written)


def test_an_answer_that_fails_fails_alone(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    wrong, right = Job(error=LengthError("too long"), prefix=()), Job(prefix=())
    scheduler.add(wrong)
    scheduler.add(right)
    finish(scheduler)
    assert isinstance(wrong.result, LengthError)
    assert isinstance(right.result, Written)
    assert engine.open_sequences == 0


def test_a_failing_engine_fails_the_answers_of_its_call_and_no_others(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    first, second = Job(), Job()
    scheduler.add(first)
    engine.failing = RuntimeError("out of memory")
    finish(scheduler)
    assert isinstance(first.result, EngineError)
    assert first.result.code == "engine_failed"
    assert "out of memory" in str(first.result)
    assert engine.open_sequences == 0
    scheduler.add(second)
    finish(scheduler)
    assert isinstance(second.result, Written)


def test_closing_fails_what_is_left_and_releases_everything(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, most_live=1)
    jobs = [Job(9), Job(9)]
    for job in jobs:
        scheduler.add(job)
    scheduler.step()
    scheduler.close(UsageError("closed"))
    assert all(isinstance(job.result, UsageError) for job in jobs)
    assert engine.open_sequences == 0
    assert scheduler.idle


def test_a_long_run_leaks_nothing_and_keeps_order_within_a_length(engine: FakeEngine) -> None:
    chance = random.Random(1)
    scheduler = Scheduler(engine, most_live=7, tokens_per_call=20)
    jobs: list[Job] = []
    for _ in range(3000):
        if chance.random() < 0.3:
            jobs.append(Job(chance.randint(1, 5), prompt=chance.randint(1, 30), prefix=(chance.randint(1, 12),)))
            scheduler.add(jobs[-1])
        if jobs and chance.random() < 0.05:
            chance.choice(jobs).cancelled = True
        scheduler.step()
    finish(scheduler)
    assert all(job.cancelled or isinstance(job.result, Written) for job in jobs)
    scheduler.close(UsageError("closed"))
    assert engine.open_sequences == 0


class SmallEngine(FakeEngine):
    """Has room for so many tokens in all, and says so when they do not fit, changing nothing."""

    def __init__(self, room: int) -> None:
        super().__init__(50, hashed(50))
        self.room = room
        self.held: dict[int, int] = {}

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        new = {read.sequence: len(read.tokens) for read in reads}
        if sum(self.held.values()) + sum(new.values()) > self.room:
            raise EngineError("The KV cache is full.", code="cache_full")
        for sequence, count in new.items():
            self.held[sequence] = self.held.get(sequence, 0) + count
        return super().run(reads)

    def release(self, sequence: int) -> None:
        self.held.pop(sequence, None)
        super().release(sequence)


def test_answers_that_do_not_fit_together_are_written_one_after_the_other() -> None:
    engine = SmallEngine(room=70)
    scheduler = Scheduler(engine)
    jobs = [Job(passes=4, prompt=30) for _ in range(9)]
    for job in jobs:
        scheduler.add(job)
    for _ in range(200):
        scheduler.step()
    assert scheduler.idle
    assert all(isinstance(job.result, Written) for job in jobs)
    alone = Job(passes=4, prompt=30)
    scheduler.add(alone)
    finish(scheduler)
    assert {tuple(score.argmax for score in job.seen[-4:]) for job in jobs} == {
        tuple(score.argmax for score in alone.seen)
    }


def test_an_answer_that_does_not_fit_at_all_fails_by_name() -> None:
    scheduler = Scheduler(SmallEngine(room=20))
    job = Job(passes=2, prompt=30)
    scheduler.add(job)
    finish(scheduler)
    assert isinstance(job.result, EngineError)
    assert job.result.code == "cache_full"


def test_an_engine_that_opens_no_sequence_fails_the_answer(engine: FakeEngine) -> None:
    def refuse() -> int:
        raise RuntimeError("no more sequences")

    engine.open = refuse  # type: ignore[method-assign]
    scheduler = Scheduler(engine)
    job = Job()
    scheduler.add(job)
    finish(scheduler)
    assert isinstance(job.result, EngineError)


class RowJob(Job):
    """Looks at the row of the last token it asked for, counted from the end."""

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Written]:
        tokens = self.prompt[held:]
        (scores,) = yield Read(sequence, tokens, (Wanted(len(tokens) - 1),))
        self.rows = engine.row(sequence, -1)
        self.seen.append(scores)
        return Written([scores.argmax])


def test_rows_are_found_from_the_end_also_of_a_prompt_read_in_parts(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, tokens_per_call=5)
    jobs = [RowJob(prompt=23), RowJob(prompt=11)]
    for job in jobs:
        scheduler.add(job)
    finish(scheduler)
    assert all(int(job.rows.argmax()) == job.seen[0].argmax for job in jobs)
