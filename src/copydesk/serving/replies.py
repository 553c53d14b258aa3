"""Several replies at once: read to their ends, or as one stream of what comes next of any; and an answer as a reply.

Knows no wire format.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from copydesk.serving.backend import Replies
from copydesk.types import Answer, Delta, Reply


class TaskReplies:
    """An extraction or classification as the reply that holds nothing but its value. Satisfies `Replies`."""

    def __init__(self, answer: Coroutine[Any, Any, Answer[Any]]) -> None:
        self._answer = answer
        self._reply: Reply | None = None

    async def __aiter__(self) -> AsyncIterator[Delta]:
        self._reply = _as_reply(await self._answer)
        yield Delta(content=self._reply.content)

    @property
    def reply(self) -> Reply:
        """The whole."""
        if self._reply is None:
            raise RuntimeError("the reply is not there yet")
        return self._reply

    def cancel(self) -> None:
        """Give up what nobody has begun to wait for; whoever waits is cancelled instead."""
        if self._reply is None:
            with suppress(RuntimeError, ValueError):  # it runs: its task is the one to cancel
                self._answer.close()


async def whole(replies: Sequence[Replies]) -> list[Reply]:
    """All replies, once all have ended. One that fails, and being cancelled, cancels the others."""
    try:
        if len(replies) == 1:
            return [await _read(replies[0])]
        reading = [asyncio.ensure_future(_read(reply)) for reply in replies]
        try:
            return await asyncio.gather(*reading)
        finally:
            for task in reading:
                task.cancel()
    finally:
        for reply in replies:
            reply.cancel()


async def merged(replies: Sequence[Replies]) -> AsyncGenerator[tuple[int, Delta | Reply], None]:
    """What comes next of any reply with its number: its deltas, then the whole reply. Cancels all when it is closed."""
    try:
        if len(replies) == 1:
            async for delta in replies[0]:
                yield 0, delta
            yield 0, replies[0].reply
            return
        arrived: asyncio.Queue[tuple[int, Delta | Reply | BaseException]] = asyncio.Queue()
        reading = [asyncio.ensure_future(_forward(number, reply, arrived)) for number, reply in enumerate(replies)]
        try:
            left = len(replies)
            while left:
                number, item = await arrived.get()
                if isinstance(item, BaseException):
                    raise item
                left -= isinstance(item, Reply)
                yield number, item
        finally:
            for task in reading:
                task.cancel()
    finally:
        for reply in replies:
            reply.cancel()


async def _forward(
    number: int, replies: Replies, arrived: asyncio.Queue[tuple[int, Delta | Reply | BaseException]]
) -> None:
    try:
        async for delta in replies:
            arrived.put_nowait((number, delta))
        arrived.put_nowait((number, replies.reply))
    except Exception as error:
        arrived.put_nowait((number, error))


async def _read(replies: Replies) -> Reply:
    async for _ in replies:
        pass
    return replies.reply


def _as_reply(answer: Answer[Any]) -> Reply:
    value = answer.value
    content = value if answer.labels else json.dumps(value, ensure_ascii=False)
    return Reply(
        content=content,
        reasoning=None,
        finish="stop",
        value=None if answer.labels else value,
        verified=answer.verified,
        draft=answer.draft,
        accepted=answer.accepted,
        passes=answer.passes,
        model=answer.model,
        engine=answer.engine,
        usage=answer.usage,
        ms=answer.ms,
        truncated=answer.truncated,
    )
