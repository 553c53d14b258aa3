"""Many answers through one engine."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import CancelledError

import pytest

from copydesk.desk.scheduler import Effort, Scheduler
from copydesk.desk.writer import Written
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.errors import EngineError, LengthError, UsageError
from fake_engine import FakeEngine, hashed

from .scheduled import BranchJob, Job, SmallEngine, finish


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(50, hashed(50))


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


def test_those_after_an_answer_that_got_no_sequence_do_not_wait_for_it(engine: FakeEngine) -> None:
    open_sequence, left = engine.open, iter([RuntimeError("broken")])

    def refuse_once() -> int:
        for error in left:
            raise error
        return open_sequence()

    engine.open = refuse_once  # type: ignore[method-assign]
    scheduler = Scheduler(engine)
    jobs = [Job(), Job()]
    for job in jobs:
        scheduler.add(job)
    finish(scheduler)
    assert isinstance(jobs[0].result, EngineError)
    assert isinstance(jobs[1].result, Written)


@pytest.mark.parametrize("sequences", [1, 2, 3, 5])
def test_with_few_sequences_answers_wait_for_one(engine: FakeEngine, sequences: int) -> None:
    added = engine._added

    def few(tokens: list[int]) -> int:
        if engine.open_sequences == sequences:
            raise EngineError("no sequence is free", code="cache_full")
        return added(tokens)

    engine._added = few  # type: ignore[method-assign]
    scheduler = Scheduler(engine)
    jobs = [Job(3, prefix=(number % 4,)) for number in range(12)]
    for job in jobs:
        scheduler.add(job)
    for _ in range(200):
        scheduler.step()
    assert all(isinstance(job.result, Written) for job in jobs)


def test_beginnings_of_prompts_make_room_for_an_answer() -> None:
    scheduler = Scheduler(SmallEngine(room=40))
    jobs = [Job(prefix=(1,) * 12), Job(prefix=(2,) * 12), Job(prompt=30)]
    for job in jobs:
        scheduler.add(job)
    finish(scheduler)
    assert all(isinstance(job.result, Written) for job in jobs)


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


def one_after_the_other(job: BranchJob) -> list[Scores]:
    """What an engine says of a job's branches when each is read from the start."""
    engine = FakeEngine(50, hashed(50))
    scores = []
    for branch in job.branches:
        tokens = (*job.prompt, *branch)
        (found,) = engine.run([Read(engine.open(), tokens, tuple(map(Wanted, range(len(job.prompt), len(tokens)))))])
        scores += found
    return scores


BRANCHES = [(7,), (7, 8), (9, 10, 11), (12,)]


def test_branches_are_read_in_one_call_and_given_up_after_it(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    job = BranchJob(BRANCHES, prefix=())
    scheduler.add(job)
    scheduler.step()
    scheduler.step()
    assert engine.calls == [1, 4]
    assert engine.open_sequences == 1
    finish(scheduler)
    assert job.of_branches == one_after_the_other(job)
    assert job.effort == Effort(6, 0)
    assert engine.open_sequences == 0


def test_branches_of_many_answers_go_together(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    jobs = [BranchJob(BRANCHES[: number % 4 + 1], prompt=number + 1, prefix=()) for number in range(6)]
    for job in (*jobs, Job(3, prefix=())):
        scheduler.add(job)
    finish(scheduler)
    assert engine.calls == [7, 14, 7]
    assert all(job.of_branches == one_after_the_other(job) for job in jobs)


def test_a_call_has_so_many_branches_and_tokens_and_no_more(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, branches_per_call=3, tokens_per_call=8)
    reads: list[list[Read]] = []
    run = engine.run
    engine.run = lambda given: (reads.append(list(given)), run(given))[1]  # type: ignore[method-assign]
    jobs = [BranchJob([(token,) * (token % 3 + 1) for token in range(20)], prefix=()) for _ in range(3)]
    for job in (*jobs, Job(6, prefix=())):
        scheduler.add(job)
    finish(scheduler)
    assert max(sum(len(read.tokens) for read in call) for call in reads) <= 8
    assert max(sum(read.sequence > 4 for read in call) for call in reads) == 3  # all but the four answers' own
    assert all(job.of_branches == one_after_the_other(job) for job in jobs)
    assert engine.open_sequences == 0


def test_a_branch_longer_than_a_call_is_read_by_itself(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine, tokens_per_call=6)
    job = BranchJob([(3,), tuple(range(20)), (4,)], prefix=())
    scheduler.add(job)
    finish(scheduler)
    assert engine.calls == [1, 1, 1, 1, 1]
    assert job.of_branches == one_after_the_other(job)


@pytest.mark.parametrize("after", [1, 2])
def test_a_cancelled_answer_takes_its_branches_along(engine: FakeEngine, after: int) -> None:
    scheduler = Scheduler(engine, branches_per_call=2)
    job, other = BranchJob(BRANCHES, prefix=()), Job(9, prefix=())
    scheduler.add(job)
    scheduler.add(other)
    for _ in range(after):
        scheduler.step()
    job.cancelled = True
    scheduler.step()
    assert engine.open_sequences == 1
    finish(scheduler)
    assert isinstance(job.result, CancelledError)
    assert isinstance(other.result, Written)


def test_a_call_of_branches_that_fails_leaves_none_open(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    failed, fine = BranchJob(BRANCHES, prefix=()), BranchJob(BRANCHES, prefix=())
    scheduler.add(failed)
    scheduler.step()
    engine.failing = RuntimeError("broken")
    finish(scheduler)
    assert isinstance(failed.result, EngineError)
    assert engine.open_sequences == 0
    scheduler.add(fine)
    finish(scheduler)
    assert fine.of_branches == one_after_the_other(fine)


def test_branches_that_do_not_fit_together_are_read_in_several_calls() -> None:
    engine = SmallEngine(room=14)
    scheduler = Scheduler(engine)
    jobs = [BranchJob([(token, 1, 2) for token in range(9)], prefix=()) for _ in range(2)]
    for job in jobs:
        scheduler.add(job)
    finish(scheduler)
    assert all(job.of_branches == one_after_the_other(job) for job in jobs)
    assert engine.open_sequences == 0


def test_an_engine_that_copies_few_sequences_at_once_is_asked_for_fewer(engine: FakeEngine) -> None:
    fork = engine.fork

    def few(sequence: int) -> int:
        if engine.open_sequences >= 5:
            raise EngineError("no sequence is free", code="cache_full")
        return fork(sequence)

    engine.fork = few  # type: ignore[method-assign]
    scheduler = Scheduler(engine)
    job = BranchJob([(token,) for token in range(40)], prefix=())
    scheduler.add(job)
    finish(scheduler)
    assert max(engine.calls) == 2
    assert job.of_branches == one_after_the_other(job)
    assert engine.open_sequences == 0


def test_a_branch_for_which_there_is_no_room_at_all_fails_by_name() -> None:
    engine = SmallEngine(room=20)
    scheduler = Scheduler(engine)
    job = BranchJob([tuple(range(30)), (1,)], prefix=())
    scheduler.add(job)
    finish(scheduler)
    assert isinstance(job.result, EngineError)
    assert job.result.code == "cache_full"
    assert engine.open_sequences == 0


def test_an_answer_that_fails_before_its_branches_fails_alone(engine: FakeEngine) -> None:
    scheduler = Scheduler(engine)
    job, other = BranchJob(BRANCHES, prefix=(), error=LengthError("too long")), BranchJob(BRANCHES, prefix=())
    scheduler.add(job)
    scheduler.add(other)
    finish(scheduler)
    assert isinstance(job.result, LengthError)
    assert isinstance(other.result, Written)
    assert engine.open_sequences == 0
