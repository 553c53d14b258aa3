"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from concurrent.futures import CancelledError

import pytest

from copydesk.engines.loop import Loop
from copydesk.errors import UsageError
from waiting import until


async def name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_work_is_done_in_its_thread() -> None:
    loop = Loop("beside")
    assert [loop.start(name()).result(5) for _ in range(2)] == ["beside"] * 2
    loop.close()
    loop.close()
    with pytest.raises(UsageError, match="closed"):
        loop.start(name())


def test_cancelling_cancels_the_work() -> None:
    tidied = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            tidied.set()

    loop = Loop()
    future = loop.start(work())
    loop.start(asyncio.sleep(0)).result(5)
    assert future.cancel()
    assert tidied.wait(5)
    loop.close()


def test_closing_cancels_what_runs() -> None:
    loop = Loop()
    future = loop.start(asyncio.sleep(60))
    loop.start(asyncio.sleep(0)).result(5)
    loop.close()
    with pytest.raises(CancelledError):
        future.result(5)


def test_it_ends_with_its_last_holder() -> None:
    loop = Loop("forgotten")
    loop.start(name()).result(5)
    del loop
    gc.collect()
    until(lambda: all(thread.name != "forgotten" for thread in threading.enumerate()))


def test_a_forked_process_is_told() -> None:
    loop = Loop()
    process = os.fork()
    if process == 0:
        try:
            loop.start(name())
        except UsageError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
    loop.close()
