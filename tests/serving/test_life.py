"""Work on threads of its own; the rest of a life is tested with replicas."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from copydesk.errors import EngineError, UsageError
from copydesk.serving.canary import ask
from copydesk.serving.life import Life, in_thread
from serving.fake_model import FakeModel

pytestmark = pytest.mark.anyio


async def test_a_thread_brings_its_result_or_its_error() -> None:
    assert await in_thread(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_a_result_nobody_waits_for_any_more_is_handed_on() -> None:
    late: list[int] = []
    came = threading.Event()

    def slow() -> int:
        time.sleep(0.05)
        return 3

    def take(result: int) -> None:
        late.append(result)
        came.set()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(in_thread(slow, late=take), 0.01)
    assert await asyncio.to_thread(came.wait, 2)
    assert late == [3]


async def test_a_model_closed_under_way_is_no_mistake_of_the_callers() -> None:
    model = FakeModel()
    life = Life(model.load(), await ask(model))
    mistake = UsageError("The model was closed before the answer was there.")
    assert life.own(mistake) is mistake
    life.over = True
    assert isinstance(life.own(mistake), EngineError)


async def test_a_time_out_of_the_works_own_is_passed_on() -> None:
    async def work() -> None:
        raise TimeoutError("of its own")

    model = FakeModel()
    life = Life(model.load(), await ask(model))
    with pytest.raises(TimeoutError, match="of its own"):
        await life.guarded(work(), asyncio.get_running_loop().time() + 5)


async def test_being_cancelled_is_not_mistaken_for_being_interrupted() -> None:
    model = FakeModel()
    life = Life(model.load(), await ask(model))
    task = asyncio.create_task(life.guarded(asyncio.Event().wait(), None))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    other = asyncio.create_task(life.guarded(asyncio.Event().wait(), None))
    await asyncio.sleep(0)
    life.interrupt("It is over.")
    with pytest.raises(EngineError, match="It is over"):
        await other
