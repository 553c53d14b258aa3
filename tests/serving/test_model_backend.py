"""A real model as a back end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from copydesk import Model, load
from copydesk.errors import SchemaError, UsageError
from copydesk.serving.backend import ChatCall, Choosing, CompletionCall
from copydesk.serving.model_backend import ModelBackend
from copydesk.serving.replies import whole
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Constraint, Schema

pytestmark = pytest.mark.anyio
MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> Iterator[Model]:
    with load(tiny_model, engine="openvino", learn=False) as loaded:
        yield loaded


@pytest.fixture
def backend(model: Model) -> ModelBackend:
    return ModelBackend("public-name", model)


async def test_the_two_tasks(backend: ModelBackend) -> None:
    assert backend.name == "public-name"
    answer = await backend.extract("天津市", ADDRESS, {"draft": False})
    assert set(answer.value) == {"province", "city", "district", "specific_location", "name", "phone"}
    assert (await backend.classify("Cup final", AGNEWS, {})).value in AGNEWS.labels


async def test_options_reach_the_model(backend: ModelBackend) -> None:
    call = ChatCall(MESSAGES, max_tokens=4, logprobs=True, top_logprobs=2, choosing=Choosing(temperature=1.0, seed=3))
    one, same = [(await whole([await backend.chat(call)]))[0] for _ in range(2)]
    assert one.content == same.content
    assert one.usage.completion_tokens <= 4
    assert all(len(token.top) == 2 for token in one.logprobs)
    completed = (await whole([await backend.complete(CompletionCall("Hello", max_tokens=3))]))[0]
    assert completed.usage.completion_tokens <= 3


async def test_constraints_hold(backend: ModelBackend) -> None:
    call = ChatCall(MESSAGES, constraint=Constraint(choice=("yes", "no")), preset="balanced")
    assert (await whole([await backend.chat(call)]))[0].content in ("yes", "no")
    refused = ChatCall(MESSAGES, constraint=Constraint(schema=Schema({"contains": {}})))
    with pytest.raises(SchemaError):
        await whole([await backend.chat(refused)])


async def test_what_is_senseless_raises(backend: ModelBackend) -> None:
    with pytest.raises(UsageError):
        await backend.chat(ChatCall([{"role": "assistant", "content": "x"}]))


async def test_cancelling_frees_the_work(backend: ModelBackend, model: Model) -> None:
    endless = ChatCall(MESSAGES, max_tokens=100_000, constraint=Constraint(regex="[a-z]{4000}"))
    reading = asyncio.ensure_future(whole([await backend.chat(endless)]))
    await asyncio.sleep(0.1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    started = asyncio.get_running_loop().time()
    await backend.classify("x", AGNEWS, {})
    assert asyncio.get_running_loop().time() - started < 5
