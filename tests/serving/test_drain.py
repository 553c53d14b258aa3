"""On the way out."""

from __future__ import annotations

import asyncio

import pytest

from copydesk.serving.drain import Drain

pytestmark = pytest.mark.anyio


async def test_requests_in_progress_are_waited_for() -> None:
    drain = Drain()
    assert await drain.empty(0.01)
    with drain.request(), drain.request():
        assert drain.running == 2
        assert not await drain.empty(0.01)
    assert await drain.empty(0.01)


async def test_a_request_that_fails_has_ended_too() -> None:
    drain = Drain()
    with pytest.raises(ValueError, match="x"), drain.request():
        raise ValueError("x")
    assert drain.running == 0


async def test_who_waits_is_woken_by_the_last() -> None:
    drain = Drain()

    async def answer() -> None:
        with drain.request():
            await asyncio.sleep(0.02)

    answering = asyncio.ensure_future(answer())
    await asyncio.sleep(0)
    assert await drain.empty(1)
    await answering
    assert not drain.draining
    drain.begin()
    assert drain.draining
