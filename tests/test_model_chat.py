"""Chat with a loaded model: the true engine and tokenizer on a small random model, and the built-in one."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, field_validator

import copydesk
from copydesk import Constraint, Model
from copydesk.errors import AnswerError, LengthError, SchemaError, TextError, UsageError

TURNS = [
    {"role": "system", "content": "天津市河西区"},
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi"},
    {"role": "user", "content": "天津市河西区珠江道21号"},
]


class Shape(BaseModel):
    kind: Literal["circle", "square"]
    name: str


class Refusing(BaseModel):
    kind: Literal["circle", "square"]

    @field_validator("kind")
    @classmethod
    def never(cls, value: str) -> str:
        raise ValueError("no kind is good enough")


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> Iterator[Model]:
    with copydesk.load(tiny_model) as loaded:
        yield loaded


def test_a_reply_with_all_that_is_said_of_it(model: Model) -> None:
    reply = model.chat(TURNS, max_tokens=12)
    assert reply.content
    assert (reply.model, reply.engine, reply.verified, reply.value) == (model.name, model.engine, True, None)
    assert 0 < reply.usage.completion_tokens <= 12
    assert reply.passes > 0
    assert reply.ms > 0


def test_pieces_join_to_the_reply(model: Model) -> None:
    with model.chat_stream(TURNS, max_tokens=40, preset="balanced", logprobs=True) as stream:
        deltas = list(stream)
    assert "".join(delta.content for delta in deltas) == stream.reply.content
    assert [one for delta in deltas for one in delta.logprobs] == list(stream.reply.logprobs)
    assert model.chat(TURNS, max_tokens=40, preset="balanced").content == stream.reply.content


def test_a_class_gives_an_instance(model: Model) -> None:
    reply = model.chat(TURNS, schema=Shape, max_tokens=100)
    assert isinstance(reply.value, Shape)
    assert json.loads(reply.content) == reply.value.model_dump()
    stream = model.chat_stream(TURNS, schema=Shape, max_tokens=100)
    assert stream.reply.value == reply.value
    with pytest.raises(AnswerError, match="no kind is good enough"):
        model.chat(TURNS, schema=Refusing)


def test_other_constraints(model: Model) -> None:
    assert model.chat(TURNS, constraint=Constraint(choice=("yes", "no")), max_tokens=5).content in {"yes", "no"}
    assert model.chat(TURNS, constraint=Constraint(regex="[0-9]{3}")).content.isdigit()
    assert isinstance(model.chat(TURNS, constraint=Constraint(json_object=True), max_tokens=60).value, dict)


def test_a_text_goes_on_without_a_template(model: Model) -> None:
    plain = model.complete("天津市河西区", max_tokens=8)
    assert plain.usage.prompt_tokens < model.chat("天津市河西区", max_tokens=8).usage.prompt_tokens
    assert "".join(delta.content for delta in model.complete_stream("天津市河西区", max_tokens=8)) == plain.content
    assert asyncio.run(model.acomplete("天津市河西区", max_tokens=8)).content == plain.content


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize("penalty", [1.0, 1.05])
def test_drafts_and_guesses_change_nothing(model: Model, temperature: float, penalty: float) -> None:
    options = {"max_tokens": 48, "temperature": temperature, "seed": 5, "repetition_penalty": penalty}
    plain = model.chat(TURNS, draft=False, **options)  # type: ignore[arg-type]
    assert (plain.draft, plain.accepted) == (None, None)
    for prediction in (None, plain.content, plain.content[:9] + "天" + plain.content[9:], "something else"):
        drafted = model.chat(TURNS, prediction=prediction, **options)  # type: ignore[arg-type]
        assert (drafted.content, drafted.finish) == (plain.content, plain.finish)


def test_many_streams_at_once_each_to_its_own_reader(model: Model) -> None:
    texts = [f"天津市河西区{number}号" for number in range(12)]
    alone = [model.chat(text, max_tokens=20).content for text in texts]

    def read(text: str) -> str:
        return "".join(delta.content for delta in model.chat_stream(text, max_tokens=20))

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(read, texts)) == alone

    async def together() -> list[str]:
        async def one(text: str) -> str:
            return "".join([delta.content async for delta in model.chat_stream(text, max_tokens=20)])

        return list(await asyncio.gather(*map(one, texts)))

    assert asyncio.run(together()) == alone
    replies = asyncio.run(_gathered(model, texts))
    assert [reply.content for reply in replies] == alone


async def _gathered(model: Model, texts: list[str]) -> list[copydesk.Reply]:
    return await asyncio.gather(*(model.achat(text, max_tokens=20) for text in texts))


def test_who_drops_or_cancels_frees_the_desk(model: Model) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(model.achat(TURNS, max_tokens=400))
        await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    stream = model.chat_stream(TURNS, max_tokens=400)
    next(stream)
    stream.cancel()
    with pytest.raises(CancelledError):
        _ = stream.reply
    for _ in model.chat_stream(TURNS, max_tokens=400):
        break
    gc.collect()
    assert model.chat(TURNS, max_tokens=3).usage.completion_tokens == 3


def test_errors_of_a_stream_come_by_the_stream(model: Model) -> None:
    with pytest.raises(UsageError, match="preset"):
        model.chat_stream("hello", preset="slow")  # type: ignore[typeddict-item]
    with pytest.raises(UsageError, match="at least one"):
        model.chat_stream([])
    stream = model.chat_stream("\0")
    with pytest.raises(TextError, match="NUL"):
        next(stream)
    for error, options in (
        (SchemaError, {"constraint": Constraint(regex="(")}),
        (LengthError, {"schema": Shape, "max_tokens": 2}),
    ):
        with pytest.raises(error):
            model.chat("hello", **options)  # type: ignore[arg-type]
    with pytest.raises(TextError) as caught:
        model.chat(" ")
    assert caught.value.code == "empty_text"
    with pytest.raises(TextError, match="at most") as caught:
        model.chat("天津" * 1000)
    assert caught.value.code == "too_long"
    assert model.chat("天津" * 1000, truncate=True, max_tokens=3).truncated


def test_a_closed_model_says_so(tiny_model: Path) -> None:
    with copydesk.load(tiny_model) as closed:
        stream = closed.chat_stream("hello", max_tokens=400)
        next(stream)
    with pytest.raises(UsageError, match="closed"):
        list(stream)
    with pytest.raises(UsageError, match="closed"):
        closed.chat("hello")


def test_long_texts_do_not_hold_up_the_event_loop(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def slow(*_: object) -> None:
        threads.append(threading.current_thread())
        time.sleep(0.05)

    monkeypatch.setattr("copydesk.desk.source.check", slow)

    async def ask() -> None:
        for text in ("天津" * 10_000, "天津"):
            with pytest.raises(TextError):
                await model.achat(text) if len(text) > 9 else await model.aextract("天津" * 10_000)

    asyncio.run(ask())
    assert threads
    assert threading.main_thread() not in threads


def test_the_built_in_model_says_once_that_it_was_not_trained_for_it(caplog: pytest.LogCaptureFixture) -> None:
    with copydesk.load() as builtin:
        reply = builtin.chat("为什么？", max_tokens=40)
        builtin.complete("天津", max_tokens=2)
    assert reply.reasoning is not None
    assert [record.message.split(":")[0] for record in caplog.records] == ["copydesk-nano was not trained for chat"]
