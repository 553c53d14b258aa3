"""Routing: weights, callers who stay where they are, another version when one fails, the rules when none answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from copydesk.errors import AnswerError, TextError
from copydesk.serving.backend import ChatCall, CompletionCall
from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.errors import ApiError
from copydesk.serving.record import JudgingSettings
from copydesk.serving.replica import HealthSettings, Replica
from copydesk.serving.routing import ModelRouter, Route, RouteSettings
from copydesk.serving.version import Version
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Answer
from serving.fake_model import FakeModel, Marks, News

pytestmark = pytest.mark.anyio
TEXT = "湖南长沙岳麓区桃花岭路189号江雨桐13800138000"
CHAT = ChatCall([{"role": "user", "content": "hello"}])


@asynccontextmanager
async def route(
    weights: Sequence[float], settings: RouteSettings | None = None
) -> AsyncIterator[tuple[ModelRouter, list[FakeModel], list[Version]]]:
    models = [FakeModel() for _ in weights]
    health = HealthSettings(every_seconds=60, failures=10**6)
    made = []
    for number, (weight, model) in enumerate(zip(weights, models, strict=True)):
        replica = Replica(str(number), model.load, News(), health, BreakerSettings())
        await replica.start(must=True)
        judging = JudgingSettings(least_calls=10**6)
        made.append(Version("name", str(number), weight, [replica], Marks(), judging, BreakerSettings()))
    yield ModelRouter([Route("name", made, settings or RouteSettings(), seed=1)]), models, made
    for version in made:
        await version.replicas[0].close()


async def asked(router: ModelRouter, models: Sequence[FakeModel], callers: Sequence[str]) -> list[int]:
    """Which model each caller's call came to."""
    numbers = []
    for caller in callers:
        for model in models:
            model.calls.clear()
        await router.choose("name", caller).extract("x", ADDRESS, {})
        numbers.append(next(number for number, model in enumerate(models) if model.calls))
    return numbers


async def test_calls_are_shared_by_weight() -> None:
    async with route([9, 1, 0]) as (router, models, _):
        shares = Counter(await asked(router, models, ["one caller"] * 600))
        assert 30 <= shares[1] <= 90
        assert shares[0] + shares[1] == 600


async def test_a_caller_stays_with_a_version_if_so_wanted_and_moves_only_when_it_must() -> None:
    callers = [f"caller {number}" for number in range(120)]
    async with route([2, 1, 1], RouteSettings(sticky=True)) as (router, models, made):
        first = await asked(router, models, callers)
        assert await asked(router, models, callers) == first
        shares = Counter(first)
        assert 40 <= shares[0] <= 80
        assert min(shares[1], shares[2]) >= 12
        made[1].replicas[0].fault = "is gone"
        after = await asked(router, models, callers)
        assert 1 not in after
        assert all(now == before for now, before in zip(after, first, strict=True) if before != 1)
        made[1].replicas[0].fault = None
        assert await asked(router, models, callers) == first


async def test_a_version_of_no_weight_stands_in() -> None:
    async with route([1, 0]) as (router, models, made):
        assert set(await asked(router, models, ["a"] * 20)) == {0}
        made[0].replicas[0].fault = "is gone"
        assert set(await asked(router, models, ["a"] * 20)) == {1}


async def test_another_version_answers_when_one_fails() -> None:
    async with route([1, 0]) as (router, models, _):
        models[0].mood = "dead"
        backend = router.choose("name", "a")
        assert (await backend.extract("x", ADDRESS, {})).verified
        assert (await backend.classify("x", AGNEWS, {})).value == "Business"
        assert models[1].calls == ["x", "x"]
        models[0].mood = "dead at once"
        assert len([delta async for delta in await backend.chat(CHAT)]) == 3
        models[0].mood = "dead at first"
        assert len([delta async for delta in await backend.complete(CompletionCall("hello"))]) == 3
        assert backend.name == "name"


async def test_without_any_version_the_rules_answer_and_say_so() -> None:
    async with route([1]) as (router, models, made):
        made[0].replicas[0].fault = "is frozen"
        answer = await router.choose("name", "a").extract(TEXT, ADDRESS, {})
        assert (answer.verified, answer.draft, answer.value["city"]) == (False, "rules", "长沙市")
        long = await router.choose("name", "a").extract(TEXT + "。" * 6000, ADDRESS, {})
        assert not long.verified
        made[0].replicas[0].fault = None
        assert (await router.choose("name", "a").extract(TEXT, ADDRESS, {})).verified
        assert len(models[0].calls) == 1


async def test_what_has_no_rules_is_503_with_a_time_to_come_back() -> None:
    async with route([1]) as (router, _, made):
        made[0].replicas[0].fault = "is frozen"
        backend = router.choose("name", "a")
        for call in (
            backend.classify("x", AGNEWS, {}),
            backend.chat(CHAT),
            backend.extract("x", replace(ADDRESS, builtin=False), {}),
        ):
            with pytest.raises(ApiError, match="name") as caught:
                await call
            assert caught.value.status == 503
            assert caught.value.retry_after is not None


async def test_a_fallback_can_be_switched_off() -> None:
    async with route([1], RouteSettings(fallback=False)) as (router, _, made):
        made[0].replicas[0].fault = "is frozen"
        with pytest.raises(ApiError):
            await router.choose("name", "a").extract(TEXT, ADDRESS, {})


async def test_past_the_deadline_the_rules_answer_and_no_other_version_is_asked() -> None:
    async with route([1, 0], RouteSettings(answer_seconds=0.05)) as (router, models, _):
        models[0].mood = "frozen"
        answer = await asyncio.wait_for(router.choose("name", "a").extract(TEXT, ADDRESS, {}), 2)
        assert not answer.verified
        with pytest.raises(ApiError) as caught:
            await asyncio.wait_for(router.choose("name", "a").classify("x", AGNEWS, {}), 2)
        assert (caught.value.status, caught.value.code) == (503, "deadline")
        assert models[1].calls == []
        assert models[0].given_up == 2


async def test_a_callers_mistake_is_told_to_the_caller() -> None:
    async with route([1, 0]) as (router, models, _):
        models[0].mood = "refusing"
        with pytest.raises(TextError):
            await router.choose("name", "a").extract(TEXT, ADDRESS, {})
        assert models[1].calls == []


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -0.1, 1.5])
async def test_an_answer_of_nonsense_probabilities_is_never_handed_out(confidence: float) -> None:
    async with route([1]) as (router, models, _):
        original = models[0].extract

        async def nonsense(*arguments: object) -> Answer[object]:
            return replace(await original(*arguments), confidence=confidence)  # type: ignore[arg-type]

        models[0].extract = nonsense  # type: ignore[method-assign]
        assert not (await router.choose("name", "a").extract(TEXT, ADDRESS, {})).verified


async def test_an_answer_that_no_version_gets_right_is_a_bad_gateway() -> None:
    async with route([1], RouteSettings(fallback=False)) as (router, models, _):

        async def invalid(*arguments: object) -> Answer[object]:
            raise AnswerError("not what the schema says")

        models[0].extract = invalid  # type: ignore[method-assign]
        with pytest.raises(ApiError, match="no answer that satisfies the schema") as caught:
            await router.choose("name", "a").extract("x", ADDRESS, {})
        assert (caught.value.status, caught.value.code) == (502, "invalid_answer")


async def test_names() -> None:
    router = ModelRouter([Route("a", [], RouteSettings()), Route("b", [], RouteSettings())])
    assert router.names == ("a", "b")
    assert router.choose(None, "x").name == "a"
    with pytest.raises(ApiError, match="does not exist") as caught:
        router.choose("c", "x")
    assert (caught.value.status, caught.value.code) == (404, "model_not_found")
    with pytest.raises(ApiError) as caught:
        await router.choose("b", "x").chat(CHAT)
    assert caught.value.status == 503
