"""Replies among other answers: what is shared, what is taken up again, and what is freed."""

from __future__ import annotations

from concurrent.futures import CancelledError

import pytest

from copydesk.desk.chat_request import ChatRequest
from copydesk.errors import EngineError, UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Reply, Sampling

from .chatting import Bench, leaning, said

SYSTEM = {"role": "system", "content": "天津市河西区珠江道21号金泰大厦3层"}


def asked(*contents: str, **options: object) -> ChatRequest:
    """A conversation with a system message, its turns by the user and the assistant in turn."""
    turns = [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(contents)]
    return ChatRequest(messages=[SYSTEM, *turns], **({"max_tokens": 12} | options))  # type: ignore[arg-type]


def test_the_system_message_is_read_once(thinking: Tokenizer) -> None:
    bench = Bench(thinking, leaning(thinking, {}))
    bench.one(asked("one"))
    (reply, _) = bench.one(asked("two"))
    assert isinstance(reply, Reply)
    assert reply.usage.cached_tokens >= len(thinking.encode(SYSTEM["content"]))


def test_the_next_turn_reads_only_what_is_new(plain: Tokenizer) -> None:
    logits = leaning(plain, {})
    bench = Bench(plain, logits)
    (first, _) = bench.one(asked("one"))
    assert isinstance(first, Reply)
    request = asked("one", first.content, "two")
    read = bench.engine.tokens_read
    (second, _) = bench.one(request)
    assert isinstance(second, Reply)
    assert second.usage.cached_tokens >= first.usage.prompt_tokens
    assert bench.engine.tokens_read - read < second.usage.prompt_tokens
    assert said(second) == said(Bench(plain, logits).one(request)[0])


def test_a_cancelled_reply_frees_its_sequence_within_a_pass(thinking: Tokenizer) -> None:
    bench = Bench(thinking, leaning(thinking, {}))
    jobs = [bench.job(asked(text, max_tokens=200)) for text in ("one", "two", "three")]
    for job, _ in jobs:
        bench.scheduler.add(job)
    for _ in range(6):
        bench.scheduler.step()
    streams = [stream for _, stream in jobs]
    open_before = bench.engine.open_sequences
    streams[0].cancel()
    del jobs[1], streams[1]  # dropped
    bench.scheduler.step()
    assert bench.engine.open_sequences == open_before - 2
    with pytest.raises(CancelledError):
        _ = streams[0].reply
    while not bench.scheduler.idle:
        bench.scheduler.step()
    assert streams[1].reply.content
    bench.scheduler.close(UsageError("done"))
    assert bench.engine.open_sequences == 0


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_reply_that_makes_room_for_others_goes_on_where_it_was(thinking: Tokenizer, temperature: float) -> None:
    logits = leaning(thinking, {"</think>": 3.0})
    sampling = Sampling(temperature=temperature, repetition_penalty=1.1)
    requests = [asked(text, max_tokens=30, sampling=sampling, thinking=True) for text in ("one", "two", "three")]
    bench = Bench(thinking, logits)
    jobs = [bench.job(request) for request in requests]
    for job, _ in jobs:
        bench.scheduler.add(job)
    fails = iter([4, 10, 16])
    fail = next(fails)
    for number in range(200):
        if number >= fail and len(bench.scheduler._live) > 1:
            bench.engine.failing = EngineError("no room", code="cache_full")
            fail = next(fails, 200)
        bench.scheduler.step()
    assert fail > 10
    for (_, stream), request in zip(jobs, requests, strict=True):
        reply = stream.reply
        assert said(reply) == said(Bench(thinking, logits).one(request)[0])
        assert "".join(delta.content for delta in stream) == reply.content


def test_earlier_conversations_are_given_up_before_anything_else(plain: Tokenizer) -> None:
    bench = Bench(plain, leaning(plain, {}))
    bench.one(asked("one"))
    kept = bench.engine.open_sequences
    bench.engine.failing = EngineError("no room", code="cache_full")
    (reply, _) = bench.one(asked("something else, which has nothing in common"))
    assert isinstance(reply, Reply)
    assert bench.engine.open_sequences <= kept
    bench.engine.failing = EngineError("no room", code="cache_full")
    bench.scheduler._earlier.clear()
    bench.scheduler._prefixes.clear()
    (error, _) = bench.one(asked("one"))
    assert isinstance(error, EngineError)
