"""A loaded model: what a Python caller holds. Text in, typed answers and replies out.

Thin over the desk: it turns schemas into tasks, options into requests, and answers into the caller's own classes.
Knows no files of texts, no command line and no HTTP, and not whether the desk runs an engine or asks a server.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from pydantic import BaseModel

from copydesk.crew.lazy import LazyCrew
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.protocol import AnyDesk
from copydesk.desk.reply_stream import ReplyStream
from copydesk.desk.request import Request
from copydesk.desk.source import check_kind
from copydesk.errors import UsageError
from copydesk.options import ChatOptions, CompletionOptions, Options, RequestOptions
from copydesk.stream import in_order
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.chat import chat_request, completion_request, is_trained
from copydesk.tasks.task import classification, extraction, prompted
from copydesk.typed import typed_answer, typed_reply
from copydesk.types import Answer, Failure, Json, Messages, Reply, Task

Record = TypeVar("Record", bound=BaseModel)
IN_FLIGHT = 64
"""Rows of `extract_many` and `classify_many` that are worked on at once in this process, by default."""
_LONG = 20_000
"""Characters from which on a text is prepared in another thread, so that the event loop goes on meanwhile; so is what
is asked with a schema or labels of one's own, which may have to be compiled."""

_log = logging.getLogger("copydesk")


class Model:
    """Answers and replies. Safe to share between threads; a context manager that closes itself."""

    def __init__(self, desk: AnyDesk, *, builtin: bool = False, crew: LazyCrew | None = None) -> None:
        """The model closes `desk`, and `crew`, which answers long streams beside it. `builtin` says that the weights
        are the built-in ones, whose untrained uses are announced."""
        self._desk = desk
        self._crew = crew
        self._builtin = builtin
        self._announced = False
        self._closed = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name, as answers report it."""
        return self._desk.model

    @property
    def engine(self) -> str:
        """The engine's name, as answers report it."""
        return self._desk.engine

    @overload
    def extract(self, text: str, schema: type[Record], **options: Unpack[Options]) -> Answer[Record]: ...
    @overload
    def extract(self, text: str, schema: Json | Task | None = None, **options: Unpack[Options]) -> Answer[Json]: ...
    def extract(
        self, text: str, schema: type[BaseModel] | Json | Task | None = None, **options: Unpack[Options]
    ) -> Answer[Any]:
        """The record that `schema` describes, as the text gives it: an instance of a pydantic class, else a dict.

        Without a schema it is the built-in address task. Errors: `TextError` (`empty_text`, `invalid_text`,
        `too_long`), `SchemaError`, `LengthError`, `AnswerError`, `EngineError`; `UsageError` for senseless options.
        """
        task, asked = self._extraction(schema, options)
        return typed_answer(self._submit(task, text, asked).result(), task)

    @overload
    async def aextract(self, text: str, schema: type[Record], **options: Unpack[Options]) -> Answer[Record]: ...
    @overload
    async def aextract(
        self, text: str, schema: Json | Task | None = None, **options: Unpack[Options]
    ) -> Answer[Json]: ...
    async def aextract(
        self, text: str, schema: type[BaseModel] | Json | Task | None = None, **options: Unpack[Options]
    ) -> Answer[Any]:
        """As `extract`, without blocking the event loop. Cancelling it cancels the answer."""
        task, asked = self._extraction(schema, options)
        return typed_answer(await self._awaited(task, text, asked), task)

    @overload
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: type[Record],
        *,
        in_flight: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Record] | Failure]: ...
    @overload
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: Json | Task | None = None,
        *,
        in_flight: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Json] | Failure]: ...
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: type[BaseModel] | Json | Task | None = None,
        *,
        in_flight: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Any] | Failure]:
        """An iterator of the answers to `texts`, order kept, each as soon as it is there; `texts` may be endless.

        At most `in_flight` rows are worked on at once, by default 64, or so many in each worker process
        (`load(workers=...)`). A row that fails is a `Failure` in its place; a `Failure` among the texts stays where it
        is. A wrong schema or option, and a failing engine, raise.
        """
        task, asked = self._extraction(schema, options)
        return self._many(texts, task, in_flight, asked)

    def classify(
        self, text: str, labels: Sequence[str] | Task | None = None, **options: Unpack[Options]
    ) -> Answer[str]:
        """The one of `labels` that fits the text best; `answer.labels` holds the probability of each.

        Without labels it is the built-in news task. The value is None, and `answer.abstained` true, where the model is
        less sure than `abstain_below` asks for. Errors as `extract`; `SchemaError` (`invalid_labels`).
        """
        task, asked = self._classification(labels, options)
        return self._submit(task, text, asked).result()

    async def aclassify(
        self, text: str, labels: Sequence[str] | Task | None = None, **options: Unpack[Options]
    ) -> Answer[str]:
        """As `classify`, without blocking the event loop. Cancelling it cancels the answer."""
        task, asked = self._classification(labels, options)
        return await self._awaited(task, text, asked)

    def classify_many(
        self,
        texts: Iterable[str | Failure],
        labels: Sequence[str] | Task | None = None,
        *,
        in_flight: int | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Answer[str] | Failure]:
        """As `extract_many`, for labels."""
        task, asked = self._classification(labels, options)
        return self._many(texts, task, in_flight, asked)

    def chat(self, messages: Messages | str, **options: Unpack[ChatOptions]) -> Reply:
        """The next turn of a conversation; a text is a conversation's only user message.

        A reply that ends because it is long enough has the finish `length`. Errors: `UsageError` for senseless options,
        `TextError` (`empty_text`, `invalid_text`, `too_long`), `SchemaError`, `LengthError` where a constraint cannot
        be met in the tokens left, `AnswerError`, `EngineError`.
        """
        return self.chat_stream(messages, **options).reply

    async def achat(self, messages: Messages | str, **options: Unpack[ChatOptions]) -> Reply:
        """As `chat`, without blocking the event loop. Cancelling it cancels the reply."""
        return await self._areply(chat_request(messages, **options))

    def chat_stream(self, messages: Messages | str, **options: Unpack[ChatOptions]) -> ReplyStream:
        """As `chat`, piece by piece: iterate with `for` or `async for`, then take `.reply`.

        Senseless options raise here, all other errors come by the stream. Cancelling or dropping it stops the work.
        """
        return self._stream(chat_request(messages, **options))

    def complete(self, prompt: str, **options: Unpack[CompletionOptions]) -> Reply:
        """How a text goes on, without a chat template. Errors: as `chat`."""
        return self.complete_stream(prompt, **options).reply

    async def acomplete(self, prompt: str, **options: Unpack[CompletionOptions]) -> Reply:
        """As `complete`, without blocking the event loop. Cancelling it cancels the reply."""
        return await self._areply(completion_request(prompt, **options))

    def complete_stream(self, prompt: str, **options: Unpack[CompletionOptions]) -> ReplyStream:
        """As `complete`, piece by piece: see `chat_stream`."""
        return self._stream(completion_request(prompt, **options))

    def close(self) -> None:
        """Free the weights; answers in progress are cancelled. Closing twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        if self._crew is not None:
            self._crew.close()
        self._desk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _extraction(
        self, schema: type[BaseModel] | Json | Task | None, options: Options
    ) -> tuple[Task, RequestOptions]:
        task = ADDRESS if schema is None else schema if isinstance(schema, Task) else extraction(schema)
        if task.schema is None:
            raise UsageError(f"Task {task.name!r} is a classification; call classify.")
        return self._prompted(task, options)

    def _classification(self, labels: Sequence[str] | Task | None, options: Options) -> tuple[Task, RequestOptions]:
        task = AGNEWS if labels is None else labels if isinstance(labels, Task) else classification(labels)
        if not task.labels:
            raise UsageError(f"Task {task.name!r} is an extraction; call extract.")
        return self._prompted(task, options)

    def _prompted(self, task: Task, options: Options) -> tuple[Task, RequestOptions]:
        """The task worded and shown as asked, and the options that are the request's."""
        rest: Options = {**options}
        task = prompted(task, rest.pop("prompt", None), rest.pop("examples", ()))
        self._announce(task)
        return task, rest

    def _announce(self, task: Task) -> None:
        self._check_open()
        if task.trained:
            return
        if task.builtin:
            self._announce_once(
                "%s was trained with the short prompt and without examples: expect mistakes with others. They are for "
                "general models: --model Qwen/Qwen3-0.6B, in Python copydesk.load('Qwen/Qwen3-0.6B').",
                self.name,
            )
        else:
            self._announce_untrained("this schema" if task.schema else "this label set")

    def _announce_untrained(self, what: str) -> None:
        self._announce_once(
            "%s was not trained for %s: expect mistakes. It knows addresses (province, city, district, "
            "specific_location, name, phone) and news (World, Sports, Business, Sci/Tech). For anything else load "
            "a general model: --model Qwen/Qwen3-0.6B, in Python copydesk.load('Qwen/Qwen3-0.6B').",
            self.name,
            what,
        )

    def _announce_once(self, message: str, *words: str) -> None:
        """Say what the built-in model is not made for, the first time."""
        with self._lock:
            first = self._builtin and not self._announced
            self._announced |= first
        if first:
            _log.warning(message, *words)

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("The model is closed; load it again.")

    def _submit(self, task: Task, text: str, options: RequestOptions) -> Future[Answer[Any]]:
        check_kind(text)
        return self._desk.submit(Request(task=task, text=text, **options))

    async def _awaited(self, task: Task, text: str, options: RequestOptions) -> Answer[Any]:
        import asyncio  # 20 ms, which a command need not spend

        submit = partial(self._submit, task, text, options)
        slow = not task.builtin or (isinstance(text, str) and len(text) >= _LONG)
        return await asyncio.wrap_future(await asyncio.to_thread(submit) if slow else submit())

    def _many(
        self, texts: Iterable[str | Failure], task: Task, in_flight: int | None, options: RequestOptions
    ) -> Iterator[Answer[Any] | Failure]:
        if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
            raise UsageError(
                f"Give a list of texts, not {type(texts).__name__}; for one text there are extract and classify."
            )
        if in_flight is not None and in_flight < 1:
            raise UsageError(f"in_flight must be at least 1, got {in_flight}.")
        Request(task=task, text="", **options)  # senseless options are refused here, not by the first row

        def alone(texts: Iterable[str | Failure]) -> Iterator[Answer[Any] | Failure]:
            return in_order(
                texts,
                lambda text: self._submit(task, text, options),
                lambda answer: typed_answer(answer, task),
                in_flight or IN_FLIGHT,
            )

        if self._crew is None or in_flight == 1:
            return alone(texts)
        return self._crew.answers(texts, task, options, in_flight, alone=alone)

    def _stream(self, request: ChatRequest) -> ReplyStream:
        self._check_open()
        if not is_trained(request):
            self._announce_untrained("chat")
        schema = request.constraint.schema
        stream = self._desk.submit_chat(request)
        return stream if schema is None else stream.shaped(lambda reply: typed_reply(reply, schema))

    async def _areply(self, request: ChatRequest) -> Reply:
        import asyncio

        length = len(request.prompt or "") + sum(len(message["content"]) for message in request.messages)
        submit = partial(self._stream, request)
        stream = await asyncio.to_thread(submit) if length >= _LONG else submit()
        with stream:
            return await stream.areply()
