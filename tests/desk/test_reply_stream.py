"""A reply between its writer and its reader: order, ends, waiting, cancelling."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace

import pytest

from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.errors import EngineError
from copydesk.types import Delta, Reply, Usage

REPLY = Reply("ab", None, "stop", None, True, None, None, 1, "m", "e", Usage(1, 0, 1), 1.0)


@pytest.fixture
def sender() -> ReplySender:
    return ReplySender()


def later(work: object) -> threading.Thread:
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_pieces_come_in_order_then_the_whole(sender: ReplySender) -> None:
    stream = ReplyStream(sender)

    def write() -> None:
        for text in "ab":
            time.sleep(0.01)
            sender.put(Delta(text))
        sender.finish(REPLY)

    thread = later(write)
    assert [delta.content for delta in stream] == ["a", "b"]
    assert stream.reply is REPLY
    assert stream.done
    assert list(stream) == []
    thread.join()


def test_the_whole_can_be_had_without_the_pieces(sender: ReplySender) -> None:
    stream = ReplyStream(sender, lambda reply: replace(reply, value=1))
    thread = later(lambda: (time.sleep(0.02), sender.put(Delta("a")), sender.finish(REPLY)))
    assert stream.reply.value == 1
    thread.join()


def test_what_went_wrong_comes_after_what_there_is(sender: ReplySender) -> None:
    stream = ReplyStream(sender)
    sender.put(Delta("a"))
    sender.fail(EngineError("broken"))
    sender.put(Delta("never"))
    sender.finish(REPLY)
    assert next(stream) == Delta("a")
    with pytest.raises(EngineError):
        next(stream)
    with pytest.raises(EngineError):
        _ = stream.reply


@pytest.mark.parametrize("how", ["cancel", "close", "with", "drop", "shaped"])
def test_who_no_longer_waits_cancels(sender: ReplySender, how: str) -> None:
    told: list[str] = []
    sender.on_cancel(lambda: told.append(how))
    stream = ReplyStream(sender)
    sender.put(Delta("a"))
    if how == "with":
        with stream:
            pass
    elif how == "drop":
        for _ in stream:
            break
        del stream
        gc.collect()
    elif how == "shaped":
        shaped = stream.shaped(lambda reply: reply)
        del stream
        gc.collect()
        assert not sender.cancelled
        del shaped
        gc.collect()
    else:
        getattr(stream, how)()
        assert list(stream) == [Delta("a")]
        with pytest.raises(CancelledError):
            _ = stream.reply
    assert sender.cancelled
    assert sender.done
    assert told == [how]
    sender.on_cancel(lambda: told.append("late"))
    assert told == [how, "late"]


def test_a_finished_reply_is_not_cancelled(sender: ReplySender) -> None:
    with ReplyStream(sender) as stream:
        sender.finish(REPLY)
    stream.cancel()
    assert not sender.cancelled
    assert stream.reply is REPLY


def test_event_loops_wait_without_blocking(sender: ReplySender) -> None:
    async def read() -> tuple[list[str], Reply, int]:
        stream = ReplyStream(sender)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while not stream.done:
                await asyncio.sleep(0.002)
                ticks += 1

        ticking = asyncio.create_task(tick())
        found = [delta.content async for delta in stream]
        reply = await stream.areply()
        await ticking
        await stream.aclose()
        return found, reply, ticks

    def write() -> None:
        for text in "ab":
            time.sleep(0.03)
            sender.put(Delta(text))
        time.sleep(0.03)
        sender.finish(REPLY)

    thread = later(write)
    found, reply, ticks = asyncio.run(read())
    assert (found, reply) == (["a", "b"], REPLY)
    assert ticks > 5
    thread.join()


def test_a_loop_that_has_gone_is_no_trouble(sender: ReplySender) -> None:
    stream = ReplyStream(sender)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.01)

    asyncio.run(give_up())
    sender.put(Delta("a"))
    assert next(stream) == Delta("a")


def test_waiting_has_an_end_if_asked(sender: ReplySender) -> None:
    with pytest.raises(TimeoutError):
        sender.take(0.01)
