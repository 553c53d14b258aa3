"""Several replies at once, and an answer as one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from copydesk.errors import EngineError
from copydesk.serving.replies import TaskReplies, merged, whole
from copydesk.types import Answer, Delta, Reply
from serving.fakes import HELLO, FakeReplies, answer_of

pytestmark = pytest.mark.anyio


def slow(**more: Any) -> FakeReplies:
    return FakeReplies([Delta(content="x")] * 100, pace=0.05, **more)


async def test_all_are_read_and_in_order() -> None:
    replies = [FakeReplies(HELLO, pace=0.02), FakeReplies([Delta(content="b")])]
    assert [reply.content for reply in await whole(replies)] == ["Hello", "b"]
    assert not any(reply.cancelled for reply in replies)
    assert [reply.content for reply in await whole([FakeReplies(HELLO)])] == ["Hello"]


async def test_one_that_fails_cancels_the_rest() -> None:
    replies = [slow(), FakeReplies([EngineError("no")])]
    with pytest.raises(EngineError):
        await asyncio.wait_for(whole(replies), 1)
    assert replies[0].cancelled


@pytest.mark.parametrize("number", [1, 3])
async def test_being_cancelled_cancels_all(number: int) -> None:
    replies = [slow() for _ in range(number)]
    reading = asyncio.ensure_future(whole(replies))
    await asyncio.sleep(0.02)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert all(reply.cancelled for reply in replies)


@pytest.mark.parametrize("number", [1, 3])
async def test_merged_gives_deltas_then_the_whole(number: int) -> None:
    given: dict[int, list[Delta | Reply]] = {}
    async for which, item in merged([FakeReplies(HELLO, pace=0.001) for _ in range(number)]):
        given.setdefault(which, []).append(item)
    assert sorted(given) == list(range(number))
    for items in given.values():
        *deltas, reply = items
        assert [delta.content for delta in deltas if isinstance(delta, Delta)] == ["Hel", "lo"]
        assert isinstance(reply, Reply)


@pytest.mark.parametrize("number", [1, 3])
async def test_closing_a_merged_stream_cancels_all(number: int) -> None:
    replies = [slow() for _ in range(number)]
    stream = merged(replies)
    await anext(stream)
    await stream.aclose()
    assert all(reply.cancelled for reply in replies)


async def test_a_failure_in_a_merged_stream_is_raised() -> None:
    replies = [slow(), FakeReplies([Delta(content="a"), EngineError("no")])]
    with pytest.raises(EngineError):
        async for _ in merged(replies):
            pass
    assert replies[0].cancelled


async def _gives(answer: Answer[Any]) -> Answer[Any]:
    await asyncio.sleep(0)
    return answer


async def test_an_extraction_as_a_reply_is_its_value_on_one_line() -> None:
    reply = (await whole([TaskReplies(_gives(answer_of({"城": "a\n", "n": [1, None]})))]))[0]
    assert reply.content == '{"城": "a\\n", "n": [1, null]}'
    assert reply.value == {"城": "a\n", "n": [1, None]}
    assert (reply.finish, reply.draft, reply.passes, reply.reasoning) == ("stop", "rules", 2, None)


async def test_a_label_as_a_reply_is_the_label() -> None:
    reply = (await whole([TaskReplies(_gives(answer_of("Sports", labels={"Sports": 1.0})))]))[0]
    assert (reply.content, reply.value) == ("Sports", None)


async def test_one_that_nobody_waits_for_can_be_given_up() -> None:
    replies = TaskReplies(_gives(answer_of({})))
    replies.cancel()
    replies.cancel()
    with pytest.raises(RuntimeError):
        replies.reply  # noqa: B018
