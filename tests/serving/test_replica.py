"""A model under watch: whatever befalls it is noticed, nobody waits in vain, and it comes back by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from copydesk.errors import EngineError, ModelError, TextError
from copydesk.serving import replica as module
from copydesk.serving.backend import Backend, ChatCall
from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.life import DeadlineError, Loaded
from copydesk.serving.replica import HealthSettings, Replica
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Answer
from serving.fake_model import FakeModel, News

pytestmark = pytest.mark.anyio
QUICK = HealthSettings(
    every_seconds=0.02,
    cache_seconds=0.01,
    deadline_seconds=0.1,
    frozen_seconds=0.1,
    load_seconds=2.0,
    reload_seconds=0.01,
)
CHAT = ChatCall([{"role": "user", "content": "hello"}])


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BETWEEN_CANARIES", 0.005)


class Models:
    """The models that a replica loads one after the other."""

    def __init__(self, *moods: str) -> None:
        self.moods = list(moods)
        self.made: list[FakeModel] = []

    def load(self) -> Loaded:
        mood = self.moods.pop(0) if self.moods else "well"
        if mood == "missing":
            raise ModelError("there is no such folder")
        if mood == "slow to load":
            time.sleep(0.5)
        self.made.append(FakeModel("well" if mood == "slow to load" else mood))
        return self.made[-1].load()


@asynccontextmanager
async def running(
    *moods: str, health: HealthSettings = QUICK, must: bool = False
) -> AsyncIterator[tuple[Replica, Models, News]]:
    models, news = Models(*moods), News()
    replica = Replica("a/b/0", models.load, news, health, BreakerSettings(open_seconds=0.05, trials=1))
    await replica.start(must=must)
    try:
        yield replica, models, news
    finally:
        for model in models.made:
            model.may_close.set()
        await replica.close()


async def until(true: Callable[[], bool], seconds: float = 3.0) -> None:
    """Errors: `TimeoutError` if it does not become true."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)


async def extract(replica: Replica, text: str = "x", seconds: float | None = 5.0) -> Answer[object]:
    deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
    return await replica.call(lambda backend: backend.extract(text, ADDRESS, {}), deadline)


async def test_a_well_one_answers_and_proves_it() -> None:
    async with running() as (replica, models, news):
        assert replica.available
        assert (await extract(replica)).value == {"text": "x"}
        assert await replica.prove() is None
        before = models.made[0].canaries
        assert before >= 1
        await until(lambda: models.made[0].canaries > before + 1)
        assert (news.loads, news.up, replica.running) == (1, [True], 0)
    assert models.made[0].closed.is_set()
    with pytest.raises(EngineError):
        await extract(replica)


async def test_proof_is_asked_for_anew_when_it_is_old_and_not_when_it_is_fresh() -> None:
    async with running(health=replace(QUICK, every_seconds=60, cache_seconds=0.05)) as (replica, models, _):
        first = models.made[0].canaries
        assert await replica.prove() is None
        assert models.made[0].canaries == first
        await asyncio.sleep(0.06)
        assert await asyncio.gather(*(replica.prove() for _ in range(10))) == [None] * 10
        assert models.made[0].canaries == first + 1
        await asyncio.sleep(0.06)
        models.made[0].mood = "frozen"
        assert "no answer to a canary" in (await replica.prove() or "")


async def test_a_frozen_one_lets_go_of_its_calls_and_is_loaded_again() -> None:
    async with running() as (replica, models, news):
        frozen = models.made[0]
        frozen.may_close.clear()
        frozen.mood = "frozen"
        waiting = [asyncio.create_task(extract(replica, seconds=None)) for _ in range(5)]
        for error in await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 2):
            assert isinstance(error, EngineError)
        assert frozen.given_up >= 5
        await until(lambda: replica.available)
        assert len(models.made) == 2
        assert replica.stuck == 1
        assert (await extract(replica)).value == {"text": "x"}
        assert news.loads == 2
        assert news.up == [True, False, True]
        frozen.may_close.set()
        await until(lambda: replica.stuck == 0)


async def test_one_that_thaws_in_time_is_kept() -> None:
    async with running(health=replace(QUICK, frozen_seconds=2.0)) as (replica, models, _):
        models.made[0].delay = 0.3  # beyond the deadline, within what it gets to recover
        await until(lambda: not replica.available)
        models.made[0].delay = 0.0
        await until(lambda: replica.available)
        assert len(models.made) == 1


async def test_a_slow_one_is_given_more_time() -> None:
    models, news = Models(), News()

    def load() -> Loaded:
        loaded = models.load()
        models.made[-1].delay = 0.02
        return loaded

    replica = Replica("a/b/0", load, news, QUICK, BreakerSettings())
    await replica.start(must=True)
    models.made[0].delay = 0.3  # beyond the deadline, not beyond a hundred times what it took before
    await asyncio.sleep(0.5)
    assert news.up == [True]
    models.made[0].mood = "frozen"
    await until(lambda: not replica.available, 5)
    await replica.close()


async def test_a_busy_one_is_not_taken_for_frozen() -> None:
    async with running(health=replace(QUICK, frozen_seconds=0.05)) as (replica, models, news):
        models.made[0].mood = "frozen"  # canaries are
        for number in range(60):
            models.made[0].moods[str(number)] = "well"
            await extract(replica, str(number))  # and answers come all the same
            await asyncio.sleep(0.005)
        assert news.up == [True]
        assert len(models.made) == 1


async def test_a_dead_one_is_loaded_again_with_growing_pauses() -> None:
    async with running("well", "dead", "missing", "well") as (replica, models, news):
        models.made[0].mood = "dead"
        with pytest.raises(EngineError, match="dead"):
            await extract(replica)
        await until(lambda: news.loads == 2)
        assert replica.available
        assert len(models.made) == 3
        assert models.made[0].closed.is_set()
        assert models.made[1].closed.is_set()


async def test_one_that_stumbles_once_is_kept() -> None:
    async with running() as (replica, models, _):
        models.made[0].mood = "dead"
        await until(lambda: not replica.available)
        models.made[0].mood = "well"
        await until(lambda: replica.available)
        assert len(models.made) == 1


async def test_a_wrong_one_gives_no_further_answers_and_is_loaded_again() -> None:
    async with running() as (replica, models, news):
        models.made[0].moods["slow"] = "frozen"
        pending = asyncio.create_task(extract(replica, "slow", seconds=None))
        await asyncio.sleep(0.01)
        models.made[0].mood = "wrong"
        with pytest.raises(EngineError, match="otherwise than at first"):
            await asyncio.wait_for(pending, 2)
        await until(lambda: news.loads == 2)
        assert replica.available


async def test_nonsense_is_no_proof() -> None:
    async with running() as (_, models, news):
        original = models.made[0].classify

        async def nonsense(*arguments: object) -> Answer[str]:
            return replace(await original(*arguments), labels={"World": float("nan")})  # type: ignore[arg-type]

        models.made[0].classify = nonsense  # type: ignore[method-assign]
        await until(lambda: news.loads == 2)


async def test_a_deadline_ends_a_call_and_its_work() -> None:
    async with running() as (replica, models, _):
        models.made[0].moods["x"] = "frozen"
        with pytest.raises(DeadlineError):
            await extract(replica, seconds=0.03)
        assert models.made[0].given_up == 1
        assert replica.running == 0


async def test_cancelling_a_call_ends_its_work_and_blames_nobody() -> None:
    async with running() as (replica, models, _):
        models.made[0].moods["x"] = "frozen"
        for _ in range(10):
            task = asyncio.create_task(extract(replica))
            await asyncio.sleep(0.002)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert models.made[0].given_up == 10
        assert (replica.running, replica.breaker.state) == (0, "closed")


async def test_calls_that_fail_in_a_row_keep_others_away_until_one_succeeds() -> None:
    async with running() as (replica, models, _):
        models.made[0].moods["x"] = "dead"
        for _ in range(QUICK.failures):
            assert replica.available
            with pytest.raises(EngineError):
                await extract(replica)
        assert not replica.available
        assert replica.breaker.why == "5 calls in a row failed"
        await until(lambda: replica.available)
        await extract(replica, "good")
        assert replica.breaker.state == "closed"
        assert len(models.made) == 1


async def test_callers_mistakes_are_not_the_models() -> None:
    async with running() as (replica, models, _):
        models.made[0].moods["x"] = "refusing"
        for _ in range(20):
            with pytest.raises(TextError):
                await extract(replica)
        assert replica.available


async def test_what_breaks_says_nothing_of_the_callers_text(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as (replica, models, _):
        models.made[0].moods["a secret"] = "broken"
        with pytest.raises(EngineError, match="ZeroDivisionError") as caught:
            await extract(replica, "a secret")
        assert "secret" not in str(caught.value) + caplog.text
        assert "_feel" in caplog.text


async def test_at_the_start_a_model_must_be_there_or_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ModelError):
        async with running("missing", must=True):
            pytest.fail("started")
    async with running("missing") as (replica, _, _):
        assert replica.fault == "cannot be loaded"
        assert "cannot be loaded: there is no such folder" in caplog.text
        with pytest.raises(EngineError, match="cannot be loaded"):
            await extract(replica)
        assert await replica.prove() is not None
        await until(lambda: replica.available)


async def test_a_load_that_takes_too_long_is_given_up_and_closed_when_it_comes() -> None:
    async with running("slow to load", health=replace(QUICK, load_seconds=0.1)) as (replica, models, _):
        await until(lambda: replica.available)
        assert len(models.made) == 1
        await until(lambda: len(models.made) == 2)
        await until(models.made[1].closed.is_set)


async def test_a_model_that_freezes_at_once_is_not_loaded_for_ever() -> None:
    health = replace(QUICK, load_seconds=0.05, most_stuck=2)
    models, news = Models(*["frozen"] * 50), News()
    original = models.load

    def load() -> Loaded:
        loaded = original()
        models.made[-1].may_close.clear()
        return loaded

    replica = Replica("a/b/0", load, news, health, BreakerSettings())
    await replica.start(must=False)
    await until(lambda: replica.hopeless)
    await asyncio.sleep(0.1)
    assert len(models.made) == 3
    models.moods.clear()
    for model in models.made:
        model.may_close.set()
    await until(lambda: replica.available)
    await replica.close()


async def test_a_reply_is_streamed_and_counts_as_one_call() -> None:
    async with running() as (replica, _, _):
        replies = await replica.stream(lambda backend: backend.chat(CHAT), None)
        assert replica.running == 1
        assert [delta.content async for delta in replies] == ["one", "two", "three"]
        assert replies.reply.content == "onetwothree"
        assert replica.running == 0
        replies.cancel()
        assert replica.running == 0


@pytest.mark.parametrize("mood", ["dead at once", "dead at first"])
async def test_a_reply_that_fails_before_its_first_part_fails_when_it_is_asked_for(mood: str) -> None:
    async with running(health=replace(QUICK, every_seconds=60)) as (replica, models, _):
        models.made[0].mood = mood
        with pytest.raises(EngineError, match="dead"):
            await replica.stream(lambda backend: backend.chat(CHAT), None)
        assert replica.running == 0


async def test_a_reply_that_freezes_before_its_first_part_ends_at_the_deadline() -> None:
    async with running(health=replace(QUICK, every_seconds=60)) as (replica, models, _):
        models.made[0].mood = "frozen at first"
        with pytest.raises(DeadlineError):
            await replica.stream(lambda backend: backend.chat(CHAT), asyncio.get_running_loop().time() + 0.03)
        assert models.made[0].given_up == 2  # the wait, and the reply
        assert replica.running == 0


async def test_a_reply_is_let_go_when_its_model_freezes() -> None:
    async with running() as (replica, models, _):
        replies = await replica.stream(lambda backend: backend.chat(CHAT), None)
        models.made[0].mood = "frozen"
        read = []

        async def reading() -> None:
            async for delta in replies:
                read.append(delta.content)

        with pytest.raises(EngineError, match="no answer to a canary"):
            await asyncio.wait_for(reading(), 2)
        assert read == ["one"]
        assert replica.running == 0


async def test_a_reply_that_is_abandoned_frees_its_work() -> None:
    async with running() as (replica, models, _):
        replies = await replica.stream(lambda backend: backend.chat(CHAT), None)
        replies.cancel()
        assert (models.made[0].given_up, replica.running) == (1, 0)
        replies = await replica.stream(lambda backend: backend.chat(CHAT), None)
        parts = aiter(replies)
        await anext(parts)
        await parts.aclose()  # type: ignore[attr-defined]
        assert replica.running == 0


async def test_what_a_model_hardly_believes_itself_is_not_passed_on_once_it_computes_nonsense() -> None:
    async def unsure(backend: Backend) -> Answer[object]:
        return replace(await backend.extract("x", ADDRESS, {}), confidence=0.001)

    patient = replace(QUICK, every_seconds=60.0)
    async with running(health=patient, must=True) as (replica, models, _):
        assert (await replica.call(unsure, None)).value == {"text": "x"}
        assert models.made[0].canaries > 1
        models.made[0].mood = "wrong"
        with pytest.raises(EngineError, match="otherwise than at first"):
            await replica.call(unsure, None)
        await until(lambda: replica.fault is not None)


async def test_a_model_that_was_loaded_again_is_tried_at_once() -> None:
    models, long = Models(), BreakerSettings(open_seconds=1000.0, trials=1)
    replica = Replica("a/b/0", models.load, News(), QUICK, long)
    await replica.start(must=True)
    models.made[0].mood = "dead"
    for _ in range(QUICK.failures):
        with pytest.raises(EngineError):
            await extract(replica)
    assert replica.breaker.state == "open"
    await until(lambda: len(models.made) == 2 and replica.available)
    await extract(replica)
    assert replica.breaker.state == "closed"
    await replica.close()
