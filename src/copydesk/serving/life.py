"""One loading of a model, from its first answer to its end: calls of it can be let go all at once.

Knows nothing of canaries, of loading again, nor of what callers get instead.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from copydesk.errors import CopydeskError, EngineError, LengthError, SchemaError, TextError, UsageError
from copydesk.serving.backend import Backend, Replies
from copydesk.serving.canary import Proof
from copydesk.serving.doubt import Doubt
from copydesk.types import Delta, Reply

Result = TypeVar("Result")
Ended = Callable[[bool | None], None]
"""Is told how a call went: well, badly, or (None) without telling anything of the model."""
CALLERS_MISTAKES = (UsageError, TextError, SchemaError, LengthError)
_log = logging.getLogger("copydesk.serving")


class DeadlineError(EngineError):
    """An answer that did not come in time."""

    code = "deadline"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that answers, and how it is closed; `close` may block for ever when it is frozen."""

    backend: Backend
    close: Callable[[], None]


class Life:
    """Belongs to one event loop."""

    def __init__(self, loaded: Loaded, proof: Proof) -> None:
        self.backend = loaded.backend
        self.close = loaded.close
        self.first = proof
        """The canary's answer at the beginning."""
        self.doubt = Doubt(loaded.backend, proof)
        self.proof = proof
        """The canary's last answer."""
        self.fastest = proof.seconds
        """What the canary took at best."""
        self.progress = 0
        """Answers, and parts of streamed ones, that came."""
        self.over = False
        self._timers: set[asyncio.Timeout] = set()
        self._interrupted = ""

    async def guarded(self, work: Awaitable[Result], deadline: float | None) -> Result:
        """The work's result. `deadline` is in the loop's time.

        Errors: the work's own; `DeadlineError`; `EngineError` once it is interrupted.
        """
        timer = asyncio.timeout_at(deadline)
        self._timers.add(timer)
        try:
            async with timer:
                result = await work
        except TimeoutError:
            if not timer.expired():
                raise
            if deadline is not None and asyncio.get_running_loop().time() >= deadline:
                raise DeadlineError("The answer did not come in time.") from None
            raise EngineError(self._interrupted, code="engine_failed") from None
        finally:
            self._timers.discard(timer)
        self.progress += 1
        return result

    async def stream(self, opening: Awaitable[Replies], deadline: float | None, ended: Ended) -> Replies:
        """A reply whose first part is there; `ended` is told of its end, unless this raises. Errors as `guarded`."""
        replies = None
        try:
            replies = await self.guarded(opening, deadline)
            deltas = aiter(replies)
            first = await self.guarded(anext(deltas, None), deadline)
        except BaseException:
            if replies is not None:
                replies.cancel()
            raise
        return _Streamed(self, replies, deltas, first, ended)

    def interrupt(self, why: str) -> None:
        """Let go all calls in progress."""
        self._interrupted = why
        for timer in self._timers:
            with suppress(RuntimeError):  # it is about to end by itself
                timer.reschedule(0.0)

    def own(self, error: Exception) -> Exception:
        """The error as callers should see it: a model closed under way is no mistake of theirs."""
        if isinstance(error, UsageError) and self.over:
            return EngineError("The model was lost while it answered.", code="engine_failed")
        if isinstance(error, CopydeskError):
            return error
        # Without its message, which may hold what the caller wrote.
        frames = "".join(traceback.format_tb(error.__traceback__)[-3:])
        _log.error("An answer failed: %s\n%s", type(error).__name__, frames)
        return EngineError(f"The model failed: {type(error).__name__}.", code="engine_failed")


class _Streamed:
    """A reply under watch; satisfies `Replies`."""

    def __init__(
        self, life: Life, replies: Replies, deltas: AsyncIterator[Delta], first: Delta | None, ended: Ended
    ) -> None:
        self._life = life
        self._replies = replies
        self._deltas = deltas
        self._first = first
        self._ended: Ended | None = ended

    async def __aiter__(self) -> AsyncIterator[Delta]:
        delta, ok = self._first, None
        try:
            while delta is not None:
                yield delta
                delta = await self._life.guarded(anext(self._deltas, None), None)
            ok = True
        except Exception as error:
            own = self._life.own(error)
            ok = None if isinstance(own, CALLERS_MISTAKES) else False
            raise own from None
        finally:
            self._end(ok)

    @property
    def reply(self) -> Reply:
        """The whole reply, once the deltas have ended."""
        return self._replies.reply

    def cancel(self) -> None:
        """Give it up."""
        self._end(None)

    def _end(self, ok: bool | None) -> None:
        if not ok:
            self._replies.cancel()
        if self._ended is not None:
            ended, self._ended = self._ended, None
            ended(ok)


def in_thread(work: Callable[[], Result], late: Callable[[Result], Any] | None = None) -> asyncio.Future[Result]:
    """The result of work on a thread of its own, which no exit of the process waits for.

    A result that comes after nobody waits for it any more goes to `late`, on that thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    future.add_done_callback(lambda done: done.cancelled() or done.exception())  # some are waited for by nobody
    gone = threading.Event()
    future.add_done_callback(lambda done: gone.set() if done.cancelled() else None)

    def settle(result: Result) -> None:
        if not future.done():
            future.set_result(result)

    def fail(error: BaseException) -> None:
        if not future.done():
            future.set_exception(error)

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(fail, error)
            return
        if gone.is_set() and late is not None:
            late(result)
            return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, name="copydesk-replica", daemon=True).start()
    return future
