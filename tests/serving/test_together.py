"""Many calls, a few at a time."""

from __future__ import annotations

import asyncio

import pytest

from copydesk.serving.together import together

pytestmark = pytest.mark.anyio


class Calls:
    """Counts those that run."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.begun = 0

    async def __call__(self, item: int) -> int:
        self.begun += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.01 if item >= 0 else 0)
        finally:
            self.running -= 1
        if item < 0:
            raise ValueError(item)
        return item * 2


async def test_in_order_and_a_few_at_a_time() -> None:
    calls = Calls()
    assert await together(calls, range(40)) == [item * 2 for item in range(40)]
    assert calls.most == 16


async def test_one_that_fails_ends_all() -> None:
    calls = Calls()
    with pytest.raises(ValueError, match="-1"):
        await together(calls, [1, -1, *range(100)])
    await asyncio.sleep(0)
    assert calls.running == 0
    assert calls.begun < 20


async def test_being_cancelled_ends_all() -> None:
    calls = Calls()
    waiting = asyncio.ensure_future(together(calls, range(20)))
    await asyncio.sleep(0.005)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)
    assert (calls.running, calls.begun) == (0, 16)


async def test_nothing_to_call() -> None:
    assert await together(Calls(), []) == []
