"""The queue: bounds hold, order holds, whoever gives up frees the way, and nothing is lost or left over."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.serving import admission
from copydesk.serving.admission import Place, Queue, QueueSettings, SaturatedError


def queue(running: int = 2, tokens: int = 100, waiting: int = 2, waiting_tokens: int = 100, wait: float = 5.0) -> Queue:
    return Queue(QueueSettings(running, tokens, waiting, waiting_tokens, wait))


async def waits(place: asyncio.Task[Place]) -> bool:
    """Whether a request has no place yet."""
    for _ in range(10):
        await asyncio.sleep(0)
    return not place.done()


@pytest.mark.anyio
async def test_requests_wait_in_order_and_what_is_too_many_is_refused() -> None:
    line = queue()
    first, second = await line.enter(1), await line.enter(1)
    third, fourth = asyncio.create_task(line.enter(1)), asyncio.create_task(line.enter(1))
    assert await waits(third)
    assert await waits(fourth)
    assert (line.running, line.waiting) == (2, 2)
    with pytest.raises(SaturatedError, match="queue is full") as caught:
        await line.enter(1)
    assert caught.value.retry_after >= 1
    line.leave(second)
    assert not await waits(third)
    assert await waits(fourth)
    line.leave(first)
    line.leave(await third)
    line.leave(await fourth)
    assert (line.running, line.running_tokens, line.waiting, line.waiting_tokens) == (0, 0, 0, 0)


@pytest.mark.anyio
async def test_tokens_bound_what_runs_and_what_waits() -> None:
    line = queue(running=10, waiting=10)
    big = await line.enter(90)
    small = asyncio.create_task(line.enter(20))
    assert await waits(small)
    behind = asyncio.create_task(line.enter(1))  # would fit, but it is not its turn
    assert await waits(behind)
    with pytest.raises(SaturatedError):
        await line.enter(90)
    line.leave(big)
    line.leave(await small)
    line.leave(await behind)


@pytest.mark.anyio
async def test_a_request_larger_than_all_bounds_runs_alone() -> None:
    line = queue()
    huge = await line.enter(10**6)
    other = asyncio.create_task(line.enter(10**6))
    assert await waits(other)
    line.leave(huge)
    line.leave(await other)


@pytest.mark.anyio
async def test_a_wait_ends() -> None:
    line = queue(running=1, wait=0.02)
    held = await line.enter(1)
    with pytest.raises(SaturatedError, match=r"within 0\.02 s"):
        await line.enter(1)
    assert line.waiting == 0
    line.leave(held)
    assert line.running == 0


@pytest.mark.anyio
async def test_whoever_gives_up_leaves_the_queue_and_those_behind_move_up() -> None:
    line = queue(tokens=10)
    held = await line.enter(8)
    large, small = asyncio.create_task(line.enter(9)), asyncio.create_task(line.enter(2))
    assert await waits(small)
    large.cancel()
    assert not await waits(small)
    assert line.waiting == 0
    line.leave(held)
    line.leave(await small)
    assert line.running_tokens == 0


@pytest.mark.anyio
async def test_giving_up_at_the_moment_the_place_comes_free_loses_no_place() -> None:
    line = queue(running=1)
    held = await line.enter(1)
    waiting = asyncio.create_task(line.enter(1))
    assert await waits(waiting)
    line.leave(held)  # grants
    waiting.cancel()  # before the task could take it
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert line.running == 0
    line.leave(await line.enter(1))


@pytest.mark.anyio
async def test_the_guess_at_a_wait_follows_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(admission.time, "monotonic", lambda: now[0])
    line = queue(running=1, waiting=100)
    assert line.retry_after() == 1
    for _ in range(10):
        now[0] += 2.0
        line.leave(await line.enter(1))
    assert line.retry_after() == 2
    held = await line.enter(1)
    tasks = [asyncio.create_task(line.enter(1)) for _ in range(9)]
    assert await waits(tasks[-1])
    assert 17 <= line.retry_after() <= 20
    now[0] += 3600
    assert line.retry_after() == 60
    for task in tasks:
        task.cancel()
    line.leave(held)


@settings(max_examples=30, deadline=None)
@given(
    bounds=st.tuples(st.integers(1, 4), st.integers(5, 50), st.integers(0, 6), st.integers(5, 60)),
    count=st.integers(1, 40),
    seed=st.integers(0, 2**16),
)
def test_whatever_happens_bounds_hold_and_all_is_freed(
    bounds: tuple[int, int, int, int], count: int, seed: int
) -> None:
    chance = random.Random(seed)
    line = Queue(QueueSettings(*bounds, wait_seconds=0.004))

    async def request(tokens: int, starts: int, works: int) -> str:
        for _ in range(starts):
            await asyncio.sleep(0)
        try:
            place = await line.enter(tokens)
        except SaturatedError:
            return "refused"
        try:
            assert line.running <= bounds[0]
            assert line.running_tokens <= max(bounds[1], tokens)
            assert line.waiting <= bounds[2]
            for _ in range(works):
                await asyncio.sleep(0)
        finally:
            line.leave(place)
        return "done"

    async def play() -> None:
        tasks = [
            asyncio.create_task(request(chance.randint(1, 40), chance.randint(0, 20), chance.randint(0, 9)))
            for _ in range(count)
        ]
        for _ in range(count):
            await asyncio.sleep(0)
            if chance.random() < 0.3:
                chance.choice(tasks).cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        assert all(how in ("done", "refused") or isinstance(how, asyncio.CancelledError) for how in ended)
        assert (line.running, line.running_tokens, line.waiting, line.waiting_tokens) == (0, 0, 0, 0)

    asyncio.run(play())
