"""A loaded model: what a Python caller holds. Text and a schema or labels in, typed answers out.

Thin over the desk: it turns schemas into tasks and answers into the caller's own classes. Knows no files of texts, no
command line and no HTTP.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cache, partial
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType, UnionType
from typing import Any, Self, TypedDict, TypeVar, Unpack, overload

from pydantic import BaseModel, ValidationError

from copydesk.desk.calibration import UNCALIBRATED, Calibration, Line
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.desk.request import Request
from copydesk.drafting.controller import Controller
from copydesk.drafting.drafters import Drafters
from copydesk.drafting.rules.drafter import draft as rules
from copydesk.drafting.tagger.draft import TaggerDrafter
from copydesk.engines.choose import load_engine
from copydesk.engines.options import EngineOptions
from copydesk.engines.protocol import Engine
from copydesk.errors import AnswerError, TextError, UsageError
from copydesk.home import home, why_not_writable
from copydesk.models.calibration import read_calibration
from copydesk.models.resolve import BUILTIN_FOLDER, resolve
from copydesk.models.tokenizer import Tokenizer
from copydesk.stream import in_order
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.prompt import render_prompt
from copydesk.tasks.task import classification, extraction
from copydesk.types import Answer, Failure, Json, Task

Record = TypeVar("Record", bound=BaseModel)
IN_FLIGHT = 64
"""Rows of `extract_many` and `classify_many` that are worked on at once, by default."""

_log = logging.getLogger("copydesk")


class Options(TypedDict, total=False):
    """What every call takes beside its text. All have defaults."""

    temperature: float
    """0.0 (the default) takes the most probable answer; above it, answers are sampled with `seed`."""
    seed: int
    """Default 0. The same seed, text and model give the same sample."""
    max_tokens: int | None
    """Longest answer in tokens; by default what the context leaves."""
    truncate: bool
    """Default False. Cut a text that does not fit the context at a sentence end rather than refuse it."""
    draft: bool
    """Default True. Draft an extraction before the model reads it: faster, and the answer is the same."""
    prediction: Any
    """Your own guess at an extraction, as a value or as JSON text: a draft that goes before others. Default none."""


_KINDS: Mapping[str, tuple[type | UnionType, str]] = {
    "temperature": (Real, "a number"),
    "seed": (Integral, "a whole number"),
    "max_tokens": (Integral | None, "a whole number or None"),
    "truncate": (bool, "True or False"),
    "draft": (bool, "True or False"),
}
"""What an option's value is an instance of."""


class Model:
    """Answers extractions and classifications. Safe to share between threads; a context manager that closes itself."""

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        *,
        drafting: Drafting | None = None,
        calibration: Calibration = UNCALIBRATED,
        builtin: bool = False,
    ) -> None:
        """`drafting` drafts extractions, `calibration` is that of the model's confidences. `builtin` says that the
        weights are the built-in ones, whose untrained uses are announced."""
        self._engine = engine
        self._desk = Desk(engine, tokenizer, partial(render_prompt, tokenizer=tokenizer), drafting, calibration)
        self._builtin = builtin
        self._announced = False
        self._closed = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name, as answers report it."""
        return self._engine.model

    @property
    def engine(self) -> str:
        """The engine's name, as answers report it."""
        return self._engine.name

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
        task = self._extraction(schema)
        return _typed(self._submit(task, text, options).result(), task)

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
        task = self._extraction(schema)
        return _typed(await _awaited(self._submit(task, text, options)), task)

    @overload
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: type[Record],
        *,
        in_flight: int = IN_FLIGHT,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Record] | Failure]: ...
    @overload
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: Json | Task | None = None,
        *,
        in_flight: int = IN_FLIGHT,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Json] | Failure]: ...
    def extract_many(
        self,
        texts: Iterable[str | Failure],
        schema: type[BaseModel] | Json | Task | None = None,
        *,
        in_flight: int = IN_FLIGHT,
        **options: Unpack[Options],
    ) -> Iterator[Answer[Any] | Failure]:
        """An iterator of the answers to `texts`, order kept, each as soon as it is there; `texts` may be endless.

        At most `in_flight` rows are worked on at once. A row that fails is a `Failure` in its place; a `Failure` among
        the texts stays where it is. A wrong schema or option, and a failing engine, raise.
        """
        return self._many(texts, self._extraction(schema), in_flight, options)

    def classify(
        self, text: str, labels: Sequence[str] | Task | None = None, **options: Unpack[Options]
    ) -> Answer[str]:
        """The one of `labels` that fits the text best; `answer.labels` holds the probability of each.

        Without labels it is the built-in news task. Errors as `extract`; `SchemaError` (`invalid_labels`).
        """
        return self._submit(self._classification(labels), text, options).result()

    async def aclassify(
        self, text: str, labels: Sequence[str] | Task | None = None, **options: Unpack[Options]
    ) -> Answer[str]:
        """As `classify`, without blocking the event loop. Cancelling it cancels the answer."""
        return await _awaited(self._submit(self._classification(labels), text, options))

    def classify_many(
        self,
        texts: Iterable[str | Failure],
        labels: Sequence[str] | Task | None = None,
        *,
        in_flight: int = IN_FLIGHT,
        **options: Unpack[Options],
    ) -> Iterator[Answer[str] | Failure]:
        """As `extract_many`, for labels."""
        return self._many(texts, self._classification(labels), in_flight, options)

    def close(self) -> None:
        """Free the weights; answers in progress are cancelled. Closing twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._desk.close()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _extraction(self, schema: type[BaseModel] | Json | Task | None) -> Task:
        task = ADDRESS if schema is None else schema if isinstance(schema, Task) else extraction(schema)
        if task.schema is None:
            raise UsageError(f"Task {task.name!r} is a classification; call classify.")
        return self._announce(task)

    def _classification(self, labels: Sequence[str] | Task | None) -> Task:
        task = AGNEWS if labels is None else labels if isinstance(labels, Task) else classification(labels)
        if not task.labels:
            raise UsageError(f"Task {task.name!r} is an extraction; call extract.")
        return self._announce(task)

    def _announce(self, task: Task) -> Task:
        with self._lock:
            if self._closed:
                raise UsageError("The model is closed; load it again.")
            first = self._builtin and not task.builtin and not self._announced
            self._announced |= first
        if first:
            _log.warning(
                "%s was not trained for this %s: expect mistakes. It knows addresses (province, city, district, "
                "specific_location, name, phone) and news (World, Sports, Business, Sci/Tech). For anything else load "
                "a general model: --model Qwen/Qwen3-0.6B, in Python copydesk.load('Qwen/Qwen3-0.6B').",
                self.name,
                "schema" if task.schema else "label set",
            )
        return task

    def _submit(self, task: Task, text: str, options: Options) -> Future[Answer[Any]]:
        if not isinstance(text, str):
            raise TextError(f"A text is a str, not {type(text).__name__}.", code="invalid_text")
        return self._desk.submit(_request(task, text, options))

    def _many(
        self, texts: Iterable[str | Failure], task: Task, in_flight: int, options: Options
    ) -> Iterator[Answer[Any] | Failure]:
        if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
            raise UsageError(
                f"Give a list of texts, not {type(texts).__name__}; for one text there are extract and classify."
            )
        if in_flight < 1:
            raise UsageError(f"in_flight must be at least 1, got {in_flight}.")
        _request(task, "", options)  # senseless options are refused here, not by the first row
        return in_order(
            texts,
            lambda text: self._submit(task, text, options),
            lambda answer: _typed(answer, task),
            in_flight,
        )


def load(
    model: str | PathLike[str] | None = None,
    *,
    engine: str = "auto",
    draft: bool = True,
    learn: bool = True,
    **options: Unpack[EngineOptions],
) -> Model:
    """Load a model: the built-in one (None), a folder, a hub id such as `Qwen/Qwen3-0.6B`, or a GGUF file.

    A GGUF file needs the model's `tokenizer.json` and `tokenizer_config.json` beside it.
    `engine` is `auto`, `openvino`, `llamacpp` or `transformers`; `options` are its `EngineOptions`, such as
    `context_length` (tokens of prompt and answer together), `threads`, `bits` or `device`.
    `draft=False` switches drafts off for all calls. `learn=False` keeps drafts from getting better by the answers
    given: what is learned of them is kept on this machine, under `COPYDESK_HOME`, until `copydesk doctor --forget`.
    Errors: `ModelError` (not found, incomplete, unsupported), `EngineError` (missing, unfit), `UsageError`.
    """
    name = fspath(model) if isinstance(model, PathLike) else model
    if not isinstance(name, str | None):
        raise UsageError(f"A model is a path or a name, not {type(name).__name__}.")
    path = resolve(name)
    tokenizer = Tokenizer(path if path.is_dir() else path.parent)
    loaded = load_engine(engine, path, **options)
    drafting = _drafting(learn=learn) if draft else None
    calibration = _calibration(path) if path.is_dir() else UNCALIBRATED
    return Model(loaded, tokenizer, drafting=drafting, calibration=calibration, builtin=path == BUILTIN_FOLDER)


def _calibration(folder: Path) -> Calibration:
    lines = read_calibration(folder)
    return Calibration({task: {name: Line(*line) for name, line in own.items()} for task, own in lines.items()})


def _drafting(*, learn: bool) -> Drafting:
    """All drafters. Where what they learn cannot be kept, that is said once."""
    folder = home()
    reason = why_not_writable(folder) if learn else None
    if reason is not None:
        _warn_once(f"What is learned from answers is not kept: {reason}. Answers are the same without.")
    controller = Controller()
    tagger = TaggerDrafter(folder) if learn else None
    return Drafting(Drafters(controller, rules=rules, tagger=tagger), controller)


@cache
def _warn_once(message: str) -> None:
    _log.warning(message)


def _request(task: Task, text: str, options: Options) -> Request:
    """Errors: `UsageError` for options of a wrong kind or senseless ones."""
    for option, value in options.items():
        kind, words = _KINDS.get(option, (object, ""))
        if not isinstance(value, kind):
            raise UsageError(f"{option} is {words}, not {value!r}.")
    return Request(task=task, text=text, **options)


async def _awaited(future: Future[Answer[Any]]) -> Answer[Any]:
    import asyncio  # 20 ms, which a command need not spend

    return await asyncio.wrap_future(future)


def _typed(answer: Answer[Any], task: Task) -> Answer[Any]:
    """The answer with its value as an instance of the schema's pydantic class, if it came from one."""
    if task.schema is None or task.schema.model is None:
        return answer
    model: type[BaseModel] = task.schema.model
    try:
        # As JSON rather than as a dict: a strict class takes a date's or an enum's text only from JSON.
        return replace(answer, value=model.model_validate_json(json.dumps(answer.value)))
    except Exception as error:  # pydantic's own, and whatever a validator of the class raises
        raise AnswerError(
            f"{model.__name__} refuses the answer {json.dumps(answer.value, ensure_ascii=False)}: {_reason(error)}. "
            "Only rules that the JSON Schema states are kept while answering: state this one there "
            "(pattern, enum, bounds), or check it afterwards."
        ) from error


def _reason(error: Exception) -> str:
    """What is wrong with a value, and in which field."""
    if not isinstance(error, ValidationError):
        return f"{type(error).__name__}: {error}"
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}" if field else first["msg"]
