"""An event loop in a thread of its own, for engines that are asynchronous under callers that are not.

Knows nothing of what runs in it.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from copydesk.errors import UsageError

Result = TypeVar("Result")


class Loop:
    """Runs coroutines in its thread. Safe to share between threads; ends by itself when nobody holds it any more."""

    def __init__(self, name: str = "copydesk-loop") -> None:
        self._loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name=name, daemon=True)
        self._thread.start()
        self._stop = weakref.finalize(self, _stop, self._loop, self._thread, self._process)

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """The result to come; cancelling it cancels the coroutine. Errors: `UsageError` once the loop has ended."""
        if os.getpid() != self._process:
            work.close()
            raise UsageError("The model was loaded before this process was forked off; load it in each process.")
        if not self._stop.alive:
            work.close()
            raise UsageError("The model is closed; load it again.")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel what runs and end the thread. Closing twice is fine; not to be called in the loop's own thread."""
        self._stop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        with suppress(Exception):
            _finish(loop)
        loop.close()


def _finish(loop: asyncio.AbstractEventLoop) -> None:
    """Let what is cancelled tidy up."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, process: int) -> None:
    if os.getpid() != process:
        return  # the thread is another process's
    with suppress(RuntimeError):  # it has ended already
        loop.call_soon_threadsafe(loop.stop)
    if threading.current_thread() is not thread:
        thread.join()
