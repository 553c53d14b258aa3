"""A version: the least loaded replica is asked, another when it fails; one that falls behind goes and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from copydesk.errors import AnswerError, EngineError, TextError
from copydesk.serving import breaker
from copydesk.serving import version as module
from copydesk.serving.backend import ChatCall
from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.life import DeadlineError
from copydesk.serving.record import JudgingSettings
from copydesk.serving.replica import HealthSettings, Replica
from copydesk.serving.version import Version
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Answer
from serving.fake_model import FakeModel, Marks, News

pytestmark = pytest.mark.anyio
CALM = HealthSettings(every_seconds=60, failures=1000)
SHORT = BreakerSettings(open_seconds=0.05, trials=2)
CHAT = ChatCall([{"role": "user", "content": "hello"}])


class Clock:
    """What breakers take for the time, so that a busy machine opens and shuts none."""

    def __init__(self) -> None:
        self.now = 1000.0

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(breaker, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@asynccontextmanager
async def versions(*sizes: int) -> AsyncIterator[tuple[list[Version], list[list[FakeModel]], list[Marks]]]:
    """Versions of so many replicas each."""
    made, models, marks = [], [], []
    for number, size in enumerate(sizes):
        fakes = [FakeModel() for _ in range(size)]
        replicas = [Replica(f"{number}/{each}", fake.load, News(), CALM, SHORT) for each, fake in enumerate(fakes)]
        for replica in replicas:
            await replica.start(must=True)
        marks.append(Marks())
        judging = JudgingSettings(least_calls=10, slow_seconds=0.01)
        made.append(Version("name", str(number), 1.0, replicas, marks[-1], judging, SHORT))
        models.append(fakes)
    for one in made:
        one.others = [other for other in made if other is not one]
    yield made, models, marks
    for one in made:
        for replica in one.replicas:
            await replica.close()


async def extract(version: Version, text: str = "x", seconds: float = 5.0) -> Answer[object]:
    deadline = asyncio.get_running_loop().time() + seconds
    return await version.call(lambda backend: backend.extract(text, ADDRESS, {}), deadline)


async def fails(version: Version, error: type[Exception] = EngineError) -> None:
    with pytest.raises(error):
        await extract(version)


async def test_the_least_loaded_replica_is_asked() -> None:
    async with versions(3) as ((version,), (models,), _):
        for model in models:
            model.delay = 0.05
        await asyncio.gather(*(extract(version) for _ in range(9)))
        assert [len(model.calls) for model in models] == [3, 3, 3]


async def test_another_replica_is_asked_when_one_fails_and_the_caller_sees_nothing_of_it() -> None:
    async with versions(2) as ((version,), (models,), (marks,)):
        models[0].moods["x"] = "dead"
        for _ in range(10):
            await extract(version)
        assert len(models[1].calls) == 10
        assert marks.outcomes == ["ok"] * 10


async def test_no_more_than_two_replicas_are_asked_for_one_call() -> None:
    async with versions(4) as ((version,), (models,), (marks,)):
        for model in models:
            model.moods["x"] = "dead"
        await fails(version)
        assert sum(len(model.calls) for model in models) == 2
        assert marks.outcomes == ["failed"]


async def test_what_the_caller_did_wrong_and_what_came_too_late_is_asked_of_nobody_else() -> None:
    async with versions(2) as ((version,), (models,), (marks,)):
        models[0].moods["x"] = models[1].moods["x"] = "refusing"
        await fails(version, TextError)
        models[0].moods["x"] = models[1].moods["x"] = "frozen"
        with pytest.raises(DeadlineError):
            await extract(version, seconds=0.02)
        assert len(models[0].calls) + len(models[1].calls) == 2
        assert marks.outcomes == ["refused", "failed"]


async def test_without_a_replica_that_can_be_asked_there_is_no_answer() -> None:
    async with versions(1) as ((version,), _, (marks,)):
        version.replicas[0].fault = "is frozen"
        assert (version.available, version.fault) == (False, "is frozen")
        await fails(version)
        assert marks.outcomes == ["failed"]


async def test_one_that_fails_is_taken_out_tried_and_let_back_in(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    async with versions(1) as ((version,), ((model,),), (marks,)):
        model.moods["x"] = "dead"
        for _ in range(10):
            assert version.available
            await fails(version)
        assert not version.available
        assert version.fault == "100% of its calls failed"
        assert marks.service == [False]
        clock.passes(0.06)
        assert version.available
        await fails(version)  # the trial
        assert not version.available
        clock.passes(0.11)
        model.moods.clear()
        await extract(version)
        assert marks.service == [False]
        await extract(version)
        assert marks.service == [False, True]
        assert version.fault is None
        assert "taken out" in caplog.text
        assert "let back in" in caplog.text


async def test_while_it_is_tried_others_are_kept_away(clock: Clock) -> None:
    async with versions(1) as ((version,), ((model,),), _):
        version.breaker.open("x")
        clock.passes(0.06)
        model.delay = 0.5
        trial = asyncio.create_task(extract(version))
        await asyncio.sleep(0.01)
        assert not version.available
        await trial
        assert version.available


async def test_one_that_is_slower_than_the_others_is_taken_out_and_stays_out_while_it_is(clock: Clock) -> None:
    async with versions(1, 1) as ((one, other), ((slow,), _), (marks, others)):
        slow.delay = 0.03
        for _ in range(10):
            await extract(other)
        for _ in range(10):
            await extract(one)
        assert "the others'" in (one.fault or "")
        assert marks.service == [False]
        assert others.service == []
        clock.passes(0.06)
        await extract(one)  # answered, and as slow as before
        assert one.breaker.state == "open"
        clock.passes(0.11)
        slow.delay = 0.0
        await extract(one)
        await extract(one)
        assert marks.service == [False, True]


async def test_one_whose_answers_are_none_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with versions(1, 1) as ((one, other), ((model,), _), (marks, _)):
        for _ in range(10):
            await extract(other)

        async def invalid(*arguments: object) -> Answer[object]:
            raise AnswerError("not what the schema says")

        monkeypatch.setattr(model, "extract", invalid)
        for _ in range(10):
            await fails(one, AnswerError)
        assert marks.outcomes == ["invalid"] * 10
        assert "invalid" in (one.fault or "")


async def test_a_busy_server_is_not_blamed() -> None:
    async with versions(1) as ((version,), ((model,),), (marks,)):

        async def busy(*arguments: object) -> Answer[object]:
            raise EngineError("429", code="busy")

        model.extract = busy  # type: ignore[method-assign]
        for _ in range(30):
            await fails(version)
        assert set(marks.outcomes) == {"busy"}
        assert version.available


async def test_a_reply_counts_when_it_ends_by_the_time_of_its_first_part(monkeypatch: pytest.MonkeyPatch) -> None:
    async with versions(1) as ((version,), ((model,),), (marks,)):
        replies = await version.stream(lambda backend: backend.chat(CHAT), None)
        assert marks.outcomes == []
        await asyncio.sleep(0.05)
        assert len([delta async for delta in replies]) == 3
        assert marks.outcomes == ["ok"]
        assert (version.record.median_seconds() or 1) < 0.05
        abandoned = await version.stream(lambda backend: backend.chat(CHAT), None)
        abandoned.cancel()
        failing = await version.stream(lambda backend: backend.chat(CHAT), None)
        model.mood = "dead"
        with pytest.raises(EngineError):
            assert [delta async for delta in failing]
        model.mood = "dead at once"
        with pytest.raises(EngineError):
            await version.stream(lambda backend: backend.chat(CHAT), None)
        assert marks.outcomes == ["ok", "cancelled", "failed", "failed"]


async def test_a_call_that_is_given_up_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_JUDGED_EVERY", 1)
    async with versions(1) as ((version,), ((model,),), (marks,)):
        model.moods["x"] = "frozen"
        task = asyncio.create_task(extract(version))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert marks.outcomes == ["cancelled"]
        assert len(version.record) == 0
