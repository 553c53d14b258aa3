"""The desk over an engine that writes whole answers: requests in, answers out, many at once.

The engine is asked in the constraint's terms, and what comes is checked and laid out here: an answer that does not
satisfy its schema, or whose grounded values do not stand in the text, is asked for once more and then refused, never
repaired. Knows nothing of HTTP, files or tensors.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

from copydesk.desk import source
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.desk.request import Request
from copydesk.desk.whole.chat import write_reply
from copydesk.desk.whole.label import write_label
from copydesk.desk.whole.record import Conversation, write_record
from copydesk.desk.whole.shape import Shape
from copydesk.engines.completions import Completions
from copydesk.engines.loop import Loop
from copydesk.errors import CopydeskError, UsageError
from copydesk.types import Answer, Task

_REMEMBERED = 64
"""Schemas whose answers' shapes are kept."""


class WholeDesk:
    """Answers requests. Safe to share between threads. Satisfies `AnyDesk`."""

    def __init__(self, completions: Completions, loop: Loop, conversation: Conversation) -> None:
        """`completions` runs in `loop`; the desk closes both. `conversation` puts a task and a text into words."""
        self._completions = completions
        self._conversation = conversation
        self._loop = loop
        self._shapes: OrderedDict[Any, Shape] = OrderedDict()
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
            if request.task.schema is None:
                return self._started(write_label(self._completions, request, self._conversation, started))
            shape = self._shape(request.task)
            return self._started(write_record(self._completions, request, shape, self._conversation, started))
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
            self._loop.start(self._completions.close()).result()
        except UsageError:  # it is another process's
            return
        self._loop.close()

    def _started(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._closed:
            work.close()
            raise UsageError("The desk is closed; load the model again.")
        return self._loop.start(work)

    def _shape(self, task: Task) -> Shape:
        schema = task.schema.json if task.schema else {}
        key = (json.dumps(schema), tuple(task.grounded.items()))
        with self._lock:
            if key not in self._shapes:
                self._shapes[key] = Shape(schema, task.grounded)
                if len(self._shapes) > _REMEMBERED:
                    self._shapes.popitem(last=False)
            self._shapes.move_to_end(key)
            return self._shapes[key]


def _ended(work: Future[None], sender: ReplySender) -> None:
    """Tell a reply's reader that there is no more, if it is not complete."""
    if work.cancelled():
        sender.cancel()
    elif (error := work.exception()) is not None:
        sender.fail(error)
