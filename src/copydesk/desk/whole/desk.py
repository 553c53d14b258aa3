"""The desk over an engine that writes whole answers: requests in, answers out, many at once.

The engine is asked in the constraint's terms, and what comes is checked and laid out here: an answer that does not
satisfy its schema, or whose grounded values do not stand in the text, is asked for once more and then refused, never
repaired. Knows nothing of HTTP, files or tensors.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from copydesk.desk import source
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.drafting import Drafting
from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.desk.request import Request
from copydesk.desk.whole.chat import write_reply
from copydesk.desk.whole.elsewhere import answer_elsewhere
from copydesk.desk.whole.label import write_label
from copydesk.desk.whole.record import Conversation, Means, write_record
from copydesk.desk.whole.shape import Shape
from copydesk.desk.whole.worth import Worth
from copydesk.engines.completions import Answering, Completions
from copydesk.engines.loop import Loop
from copydesk.errors import CopydeskError, UsageError
from copydesk.types import Answer, Task

Result = TypeVar("Result")
_REMEMBERED = 64
"""Schemas of which is kept what their extractions share."""


class WholeDesk:
    """Answers requests. Safe to share between threads. Satisfies `AnyDesk`."""

    def __init__(
        self,
        completions: Completions,
        loop: Loop,
        conversation: Conversation,
        drafting: Drafting | None = None,
        is_derived: Callable[[Task], bool] = lambda task: False,
    ) -> None:
        """`completions` runs in `loop`. `conversation` puts a task and a text into words. The desk closes all.

        With `drafting`, extractions are drafted first, if the engine verifies drafts. `is_derived` says of which tasks
        another copydesk makes the same by their schema or labels alone; an engine that is one answers those itself.
        """
        self._is_derived = is_derived
        self._completions = completions
        self._conversation = conversation
        if drafting is not None and not completions.verifies:
            drafting.close()
            drafting = None
        self._drafting = drafting
        self._loop = loop
        self._means: OrderedDict[Any, Means] = OrderedDict()
        self._tasks: set[asyncio.Task[Any] | None] = set()
        """What is in progress; only touched within the loop."""
        self._lock = threading.Lock()
        self._closed = False

    @property
    def engine(self) -> str:
        """The engine's name, as answers report it."""
        return self._completions.name

    @property
    def model(self) -> str:
        """The model's name, as answers report it."""
        return self._completions.model

    def submit(self, request: Request) -> Future[Answer[Any]]:
        """As `AnyDesk`; `AnswerError` (`invalid_answer`, `not_grounded`) too."""
        started = time.perf_counter()
        try:
            source.check(request.text)
            return self._started(self._work(request, started))
        except CopydeskError as error:
            future: Future[Answer[Any]] = Future()
            future.set_exception(error)
            return future

    def submit_chat(self, request: ChatRequest) -> ReplyStream:
        """As `AnyDesk`; `AnswerError` too."""
        sender = ReplySender()
        try:
            work = self._started(write_reply(self._completions, request, sender))
        except CopydeskError as error:
            sender.fail(error)
            return ReplyStream(sender)
        work.add_done_callback(lambda done: _ended(done, sender))

        def stop() -> None:
            work.cancel()

        sender.on_cancel(stop)
        return ReplyStream(sender)

    def close(self) -> None:
        """Stop. Answers in progress fail; calling it again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            self._loop.start(self._end()).result()
        except UsageError:  # it is another process's
            return
        self._loop.close()
        if self._drafting is not None:
            self._drafting.close()

    def _work(self, request: Request, started: float) -> Coroutine[Any, Any, Answer[Any]]:
        engine, is_label = self._completions, request.task.schema is None
        if isinstance(engine, Answering) and self._is_derived(request.task):
            shape = None if is_label else self._means_of(request.task).shape
            return answer_elsewhere(engine, request, shape, started)
        if is_label:
            return write_label(engine, request, self._conversation, started)
        return write_record(self._means_of(request.task), request, started)

    def _started(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._closed:
            work.close()
            raise UsageError("The desk is closed; load the model again.")
        return self._loop.start(self._guarded(work))

    async def _guarded(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of some work, which is ended when the desk is closed."""
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            if self._closed:
                raise UsageError("The model was closed before the answer was there.") from None
            raise
        finally:
            self._tasks.discard(task)

    async def _end(self) -> None:
        """End all work, then the engine."""
        tasks = [task for task in self._tasks if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._completions.close()

    def _means_of(self, task: Task) -> Means:
        schema = task.schema.json if task.schema else {}
        key = (json.dumps(schema), task.name, tuple(task.grounded.items()))
        with self._lock:
            if key not in self._means:
                shape = Shape(schema, task.grounded)
                self._means[key] = Means(self._completions, shape, self._conversation, self._drafting, Worth())
                if len(self._means) > _REMEMBERED:
                    self._means.popitem(last=False)
            self._means.move_to_end(key)
            return self._means[key]


def _ended(work: Future[None], sender: ReplySender) -> None:
    """Tell a reply's reader that there is no more, if it is not complete."""
    if work.cancelled():
        sender.cancel()
    elif (error := work.exception()) is not None:
        sender.fail(error)
