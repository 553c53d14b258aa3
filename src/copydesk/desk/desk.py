"""The desk: requests in, answers out, many at once on one engine.

`submit` may be called from any thread and does there what needs no model; a thread of the desk's own calls the engine.
Knows nothing of HTTP, files or tensors, nor how a task's prompt is worded.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from copydesk.desk import source
from copydesk.desk.calibration import UNCALIBRATED, Calibration
from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.replies import Replies
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.closing import Closing
from copydesk.desk.costs import Meter
from copydesk.desk.drafting import Drafting
from copydesk.desk.drafts import Drafts
from copydesk.desk.grammar import Grammar
from copydesk.desk.grounded import Grounder
from copydesk.desk.habits import Habits
from copydesk.desk.job import AnswerJob
from copydesk.desk.label_job import LabelJob
from copydesk.desk.label_scores import LabelScores
from copydesk.desk.prompt import Prompt
from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Job, Scheduler
from copydesk.desk.schema.bounds import Bounds
from copydesk.drafting.tagger.store import key
from copydesk.engines.protocol import Engine
from copydesk.errors import CopydeskError, EngineError, LengthError, SchemaError, TextError, UsageError
from copydesk.types import Answer, Task

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_REMEMBERED = 64
"""Prompts, and compiled grammars, that are kept."""
_LEFT_FOR_ANSWERS = 1024
"""Tokens of the context that a text may not fill, in a context of four times as many or more."""
_ROOM = 1024
_ROOM_PER_TOKEN = 8
"""Longest answer where the caller sets none: this many tokens, and so many for each token of the text."""

_log = logging.getLogger("copydesk")

Thing = TypeVar("Thing")
Compiled = tuple[Grammar, tuple[int, ...]]
"""A grammar, and the tokens of its shortest answer."""


class Desk:
    """Answers requests. Safe to share between threads."""

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        render: Callable[[Task], Prompt],
        drafting: Drafting | None = None,
        calibration: Calibration = UNCALIBRATED,
        *,
        idle: Callable[[], None] | None = None,
    ) -> None:
        """`render` gives a task's prompt; it is called once a task. The desk closes the engine, and `drafting`.

        With `drafting`, extractions are drafted first. `idle` is called, on the desk's own thread, whenever nothing is
        left to do and all that it took is freed.
        """
        self._engine = engine
        self._tokenizer = tokenizer
        self._render = render
        self._drafting = drafting
        self._idle = idle
        self._calibration = calibration
        self._canonical = Canonical(tokenizer)
        self._closing = Closing(self._canonical, tokenizer.eos_token_ids[0], engine.vocab_size)
        self._grounder = Grounder(tokenizer, self._closing)
        controller = drafting.controller if drafting else None
        self._replies = Replies(engine, tokenizer, self._canonical, self._closing, controller)
        self._prompts: OrderedDict[Any, Prompt] = OrderedDict()
        self._compiled: OrderedDict[Any, Compiled] = OrderedDict()
        self._habits: OrderedDict[str, Habits] = OrderedDict()
        self._label_scores: OrderedDict[tuple[str, ...], LabelScores] = OrderedDict()
        self._preparing = threading.Lock()
        self._inbox: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._closed = False
        self._closing_engine = threading.Lock()
        self._engine_open = True
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._work, name="copydesk-desk", daemon=True)
        self._thread.start()
        # Also when the interpreter exits: it must not go while the thread is inside the engine.
        self._stop = weakref.finalize(self, _stop, self._inbox, self._thread, drafting)

    @property
    def engine(self) -> str:
        """The engine's name, as answers report it."""
        return self._engine.name

    @property
    def model(self) -> str:
        """The model's name, as answers report it."""
        return self._engine.model

    def submit(self, request: Request) -> Future[Answer[Any]]:
        """The answer to come: a dict (or what the schema describes) or a label. Cancelling it stops the work.

        Errors, raised by the future: `TextError` (`empty_text`, `invalid_text`, `too_long`), `SchemaError`,
        `LengthError`, `EngineError`.
        """
        future: Future[Answer[Any]] = Future()
        try:
            self._check_process()
            self._put(self._job(request, future))
        except CopydeskError as error:
            future.set_exception(error)
        return future

    def submit_chat(self, request: ChatRequest) -> ReplyStream:
        """The reply to come. Cancelling or dropping it stops the work. Errors, raised by the stream: as `submit`."""
        sender = ReplySender()
        stream = ReplyStream(sender)
        try:
            self._check_process()
            self._put(self._replies.job(request, sender))
        except CopydeskError as error:
            sender.fail(error)
        return stream

    def close(self) -> None:
        """Stop, and free the engine. Answers in progress fail; calling it again does nothing."""
        if os.getpid() != self._process:
            return  # the thread is another process's
        with self._preparing:
            self._closed = True
        with self._closing_engine:  # whoever else closes it waits, too, until the thread is out of the engine
            self._stop()
            if self._engine_open:
                self._engine_open = False
                self._engine.close()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise UsageError("The model was loaded before this process was forked off; load it in each process.")

    def _put(self, job: Job[Any]) -> None:
        with self._preparing:
            if self._closed:
                raise UsageError("The desk is closed; load the model again.")
            self._inbox.put(job)

    def _work(self) -> None:
        scheduler = Scheduler(self._engine, took=self._meter())
        try:
            self._serve(scheduler)
        except BaseException as error:  # a library's panic is no Exception, and nobody may wait for ever
            with self._preparing:
                self._closed = True
            reason = EngineError(f"The desk broke down: {error!r}; load the model again.", code="engine_failed")
            with suppress(Exception):
                scheduler.close(reason)
            while job := _next(self._inbox):
                job.fail(reason)

    def _serve(self, scheduler: Scheduler) -> None:
        while True:
            try:
                job = self._inbox.get(block=scheduler.idle)
            except queue.Empty:
                scheduler.step()
                if self._idle is not None and scheduler.idle:
                    self._idle()
                continue
            if job is None:
                scheduler.close(UsageError("The model was closed before the answer was there."))
                return
            scheduler.add(job)

    def _meter(self) -> Callable[[int, int, float], None] | None:
        """Measures what passes cost, for drafts are worth more or less by that; None if it is known or of no use."""
        controller = self._drafting.controller if self._drafting else None
        if controller is None or controller.costs is not None:
            return None
        meter = Meter()
        try:
            meter.measure(self._engine)
            controller.costs = meter.costs
        except Exception:  # what is wrong with the engine the first answer will say
            _log.debug("The costs of passes could not be measured.", exc_info=True)

        def took(tokens: int, scored: int, seconds: float) -> None:
            if meter.took(tokens, scored, seconds):
                controller.costs = meter.costs

        return took

    def _job(self, request: Request, future: Future[Answer[Any]]) -> AnswerJob | LabelJob:
        started = time.perf_counter()
        source.check(request.text)
        tokens = self._tokenizer.encode(request.text)
        settled = {
            "request": request,
            "calibration": self._calibration,
            "drafting": self._drafting,
            "future": future,
            "engine_name": self._engine.name,
            "model_name": self._engine.model,
            "started": started,
        }
        if request.task.schema is None:
            return self._label_job(request, tokens, settled)
        return self._answer_job(request, tokens, settled)

    def _label_job(self, request: Request, tokens: list[int], settled: dict[str, Any]) -> LabelJob:
        labels = request.task.labels
        with self._preparing:
            prompt = self._prompt(request.task)
            scores = _remembered(self._label_scores, labels, lambda: LabelScores(labels, self._tokenizer))
        longest = max(scores.sizes)
        if request.max_tokens is not None and longest > request.max_tokens:
            raise LengthError(
                f"The longest label takes {longest} tokens, and the answer may have {request.max_tokens}; "
                "allow more (max_tokens)."
            )
        text, tokens = self._fitted(request, tokens, prompt, longest + 1, longest)
        return LabelJob(text=text, text_tokens=tokens, prompt=prompt, scores=scores, **settled)

    def _answer_job(self, request: Request, tokens: list[int], settled: dict[str, Any]) -> AnswerJob:
        text = request.text
        with self._preparing:
            prompt = self._prompt(request.task)
            grammar, shortest = self._grammar(request.task, Bounds.of(text))
        text, tokens = self._fitted(request, tokens, prompt, self._reserve(request, shortest), len(shortest))
        grounded, shortest = self._grounder.ground(request.task, text, grammar, shortest)
        left = self._engine.context_length - prompt.length - len(tokens)
        room = request.max_tokens or max(2 * len(shortest), _ROOM + _ROOM_PER_TOKEN * len(tokens))
        room = min(room, left)
        if len(shortest) > room:
            raise LengthError(
                f"What the schema requires takes {len(shortest)} tokens at least, and the answer may have {room}; "
                "allow more (max_tokens), or require less."
            )
        return AnswerJob(
            text=text,
            text_tokens=tokens,
            prompt=prompt,
            grammar=grounded,
            shortest=shortest,
            room=room,
            canonical=self._canonical,
            closing=self._closing,
            drafts=self._drafts(request, text),
            **settled,
        )

    def _fitted(
        self, request: Request, tokens: list[int], prompt: Prompt, reserve: int, shortest: int
    ) -> tuple[str, list[int]]:
        """What is read of the text, so that `reserve` tokens of the context are left for the answer."""
        most = self._engine.context_length - prompt.length - reserve
        if most < 1:
            raise LengthError(
                f"The instruction ({prompt.length} tokens) and the shortest answer ({shortest}) leave no room for a "
                f"text in the model's context of {self._engine.context_length} tokens; ask for less, or load another "
                "model."
            )
        if len(tokens) <= most:
            return request.text, tokens
        if not request.truncate:
            raise TextError(
                f"The text is {len(tokens):,} tokens long, but at most {most:,} fit beside instruction and answer; "
                "shorten it, or have it cut (truncate=True, --truncate).",
                code="too_long",
            )
        return source.cut(request.text, tokens, most, self._tokenizer)

    def _drafts(self, request: Request, text: str) -> Drafts | None:
        """The answer's drafts."""
        if self._drafting is None or not request.draft:
            return None
        with self._preparing:
            habits = _remembered(self._habits, key(request.task), Habits)
        return Drafts(self._drafting, request.task, text, self._tokenizer, expected=request.prediction, habits=habits)

    def _reserve(self, request: Request, shortest: tuple[int, ...]) -> int:
        """Tokens of the context kept for the answer."""
        usual = min(_LEFT_FOR_ANSWERS, self._engine.context_length // 4)
        return max(len(shortest), min(usual, request.max_tokens or usual))

    def _prompt(self, task: Task) -> Prompt:
        return _remembered(self._prompts, (task.instruction, task.examples), lambda: self._render(task))

    def _grammar(self, task: Task, bounds: Bounds) -> Compiled:
        schema = task.schema.json if task.schema else {}
        try:
            key = (json.dumps(schema), bounds)
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"The schema is no JSON: {error}.", code="invalid_schema") from error
        try:
            return _remembered(self._compiled, key, lambda: self._with_shortest(self._compile(schema, bounds)))
        except RecursionError as error:
            raise SchemaError("The schema is nested too deeply; flatten it.") from error

    def _compile(self, schema: Any, bounds: Bounds) -> Grammar:
        tokenizer = self._tokenizer.grammar_tokenizer(self._engine.vocab_size)
        return Grammar(schema, bounds, tokenizer, self._canonical)

    def _with_shortest(self, grammar: Grammar) -> Compiled:
        return grammar, self._closing.shortest(grammar.start())


def _stop(inbox: queue.SimpleQueue[Job[Any] | None], thread: threading.Thread, drafting: Drafting | None) -> None:
    """End a desk's thread, and what learns beside it."""
    inbox.put(None)
    thread.join()
    if drafting:
        drafting.close()


def _next(inbox: queue.SimpleQueue[Job[Any] | None]) -> Job[Any] | None:
    """What waits next; None if nothing does."""
    with suppress(queue.Empty):
        return inbox.get_nowait()
    return None


def _remembered(kept: OrderedDict[Any, Thing], key: Any, make: Callable[[], Thing]) -> Thing:
    """What is kept under `key`, made if need be; what was longest unused goes."""
    if key not in kept:
        kept[key] = make()
        if len(kept) > _REMEMBERED:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]
