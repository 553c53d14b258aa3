"""A reply while it comes: its writer puts pieces in, its reader takes them out.

The writer holds a `ReplySender`, the reader a `ReplyStream`; when the reader cancels, closes or drops it, the sender
says so and the work can stop. Each may be in any thread or event loop. Knows nothing of how replies are made.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from copydesk.types import Delta, Reply

if TYPE_CHECKING:
    import asyncio


class ReplySender:
    """The writer's end. Safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deltas: deque[Delta] = deque()
        self._reply: Reply | None = None
        self._error: BaseException | None = None
        self._woken: list[Callable[[], object]] = []
        """Who waits in an event loop."""
        self._on_cancel: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the reply any more."""
        return isinstance(self._error, CancelledError)

    @property
    def done(self) -> bool:
        """Whether the reply is complete, has failed or was cancelled."""
        return self._reply is not None or self._error is not None

    def put(self, delta: Delta) -> None:
        """Hand over what comes next; nothing happens once it is done."""
        with self._changed:
            if not self.done:
                self._deltas.append(delta)
                self._wake()

    def finish(self, reply: Reply) -> None:
        """Hand over the whole, after its pieces."""
        with self._changed:
            if not self.done:
                self._reply = reply
                self._wake()

    def fail(self, error: BaseException) -> None:
        """Hand over the reason why there is no more."""
        with self._changed:
            if not self.done:
                self._error = error
                self._wake()

    def cancel(self) -> None:
        """What the reader's end does when nobody waits any more; nothing happens once it is done."""
        with self._changed:
            if self.done:
                return
            self._error = CancelledError()
            self._wake()
            callbacks = self._on_cancel
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Have `callback` called, in whatever thread, when the reader cancels; at once if it has."""
        with self._changed:
            if not self.cancelled:
                self._on_cancel.append(callback)
                return
        callback()

    def _wake(self) -> None:
        self._changed.notify_all()
        woken, self._woken = self._woken, []
        for wake in woken:
            with suppress(RuntimeError):  # the event loop is closed
                wake()

    def take(self, timeout: float | None = None) -> Delta | None:
        """The next piece, waited for; None after the last. Errors: what `fail` was given; `TimeoutError`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._deltas or self.done, timeout):
                raise TimeoutError
            return self._taken()

    def whole(self) -> Reply:
        """The whole reply, waited for. Errors: what `fail` was given; `CancelledError`."""
        with self._changed:
            self._changed.wait_for(lambda: self.done)
            if self._reply is None:
                raise self._error or CancelledError()
            return self._reply

    async def ready(self, *, whole: bool = False) -> None:
        """Wait until `take`, or `whole`, need not wait."""
        import asyncio  # 20 ms, which a command need not spend

        while True:
            with self._changed:
                if self.done or (self._deltas and not whole):
                    return
                loop = asyncio.get_running_loop()
                waiting: asyncio.Future[None] = loop.create_future()
                self._woken.append(partial(loop.call_soon_threadsafe, _resolve, waiting))
            await waiting

    def _taken(self) -> Delta | None:
        if self._deltas:
            return self._deltas.popleft()
        if self._error is not None and not self.cancelled:
            raise self._error
        return None


class ReplyStream:
    """The reader's end: iterate over it, with `for` or `async for`, then take `reply`.

    Also a context manager. Cancelling, closing or dropping it frees the work within a pass. Iteration raises what went
    wrong, and just ends once cancelled.
    """

    def __init__(self, sender: ReplySender, shape: Callable[[Reply], Reply] | None = None) -> None:
        """`shape` makes of the reply what the caller sees, and may raise."""
        self._sender = sender
        self._shape = shape
        self._dropped = weakref.finalize(self, sender.cancel)
        self._dropped.atexit = False

    def shaped(self, shape: Callable[[Reply], Reply]) -> ReplyStream:
        """The same stream, its reply given another shape; this one is not to be used any more."""
        self._dropped.detach()
        return ReplyStream(self._sender, shape)

    @property
    def reply(self) -> Reply:
        """The whole reply, waited for. Errors: why there is none; `concurrent.futures.CancelledError`."""
        reply = self._sender.whole()
        return self._shape(reply) if self._shape else reply

    async def areply(self) -> Reply:
        """As `reply`, without blocking the event loop."""
        await self._sender.ready(whole=True)
        return self.reply

    @property
    def done(self) -> bool:
        """Whether `reply` need not wait."""
        return self._sender.done

    def cancel(self) -> None:
        """Stop; what came so far can still be read. Nothing happens if it is done."""
        self._sender.cancel()

    close = cancel

    async def aclose(self) -> None:
        """As `close`."""
        self.cancel()

    def __iter__(self) -> Iterator[Delta]:
        return self

    def __next__(self) -> Delta:
        delta = self._sender.take()
        if delta is None:
            raise StopIteration
        return delta

    def __aiter__(self) -> AsyncIterator[Delta]:
        return self

    async def __anext__(self) -> Delta:
        await self._sender.ready()
        delta = self._sender.take()
        if delta is None:
            raise StopAsyncIteration
        return delta

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


def _resolve(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
