"""`POST /v1/extract` and `POST /v1/classify`: copydesk's own calls, one text or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from copydesk.errors import AnswerError, LengthError, TextError
from copydesk.serving.backend import Backend
from copydesk.serving.constraining import check_labels
from copydesk.serving.errors import ApiError
from copydesk.serving.exchange import Exchange
from copydesk.serving.measures import check_schema, check_text, tokens
from copydesk.serving.plan import Outgoing
from copydesk.serving.routes import asking
from copydesk.serving.schema_tasks import schema_task
from copydesk.serving.settings import Limits
from copydesk.serving.together import together
from copydesk.serving.wire.native import Asked, ClassifyBody, ExtractBody
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.task import classification, prompted
from copydesk.types import Answer, Failure, Json, Task

_ROW_ERRORS = (AnswerError, LengthError, TextError)
"""What is wrong with one text among many; what meets every text fails the request."""


def plan_extraction(body: ExtractBody, limits: Limits) -> NativePlan:
    """Understand a request. Errors: `ApiError` 400, `SchemaError`."""
    texts = _texts(body, limits)
    if body.json_schema is not None and body.task is not None:
        raise ApiError(400, "Give a schema or the name of a task, not both.", param="task")
    if body.prediction is not None and body.texts is not None:
        raise ApiError(400, "prediction: a prediction is of one text; give text, not texts.", param="prediction")
    options = _options(body) | {
        "max_tokens": asking.length(body.max_tokens, limits, "max_tokens"),
        "draft": body.draft is not False,
        "prediction": body.prediction,
    }
    return _plan(body, texts, _extraction(body, limits), options)


def plan_classification(body: ClassifyBody, limits: Limits) -> NativePlan:
    """Understand a request. Errors: as `plan_extraction`."""
    texts = _texts(body, limits)
    if body.labels is not None and body.task is not None:
        raise ApiError(400, "Give labels or the name of a task, not both.", param="task")
    if body.labels is not None:
        check_labels(body.labels, limits, "labels")
    task = AGNEWS if body.labels is None else classification(body.labels)
    return _plan(body, texts, task, _options(body) | {"abstain_below": body.abstain_below})


@dataclass(frozen=True, slots=True)
class NativePlan:
    """Extractions or classifications; satisfies `Plan`."""

    model: str | None
    tokens: int
    texts: Sequence[str]
    many: bool
    task: Task
    options: Json
    details: bool

    @property
    def param(self) -> str:
        """See `Plan`."""
        return "labels" if self.task.labels else "schema"

    async def answer(self, backend: Backend, exchange: Exchange) -> Outgoing:
        """See `Plan`."""
        call = backend.classify if self.task.labels else backend.extract
        if not self.many:
            answer = await call(self.texts[0], self.task, self.options)
            exchange.answered(answer)
            return orjson.dumps(self._shown(answer))

        async def one(text: str) -> Answer[Any] | Failure:
            try:
                return await call(text, self.task, self.options)
            except _ROW_ERRORS as error:
                return Failure(error.code, str(error))

        answers = await together(one, self.texts)
        for given in answers:
            if isinstance(given, Answer):
                exchange.answered(given)
        return orjson.dumps(
            [given.to_dict() if isinstance(given, Failure) else self._shown(given) for given in answers]
        )

    def _shown(self, answer: Answer[Any]) -> Any:
        if self.details:
            return answer.to_dict()
        if not self.task.labels:
            return answer.value
        label = {"label": answer.value, "confidence": answer.confidence}
        return label | {"abstained": True} if answer.abstained else label


def _plan(body: Asked, texts: Sequence[str], task: Task, options: Json) -> NativePlan:
    return NativePlan(
        model=body.model,
        tokens=tokens(*texts),
        texts=texts,
        many=body.texts is not None,
        task=prompted(task, body.prompt),
        options=options,
        details=body.details,
    )


def _texts(body: Asked, limits: Limits) -> Sequence[str]:
    if (body.text is None) == (body.texts is None):
        raise ApiError(400, "Give one text, or several as texts, and not both.", param="text")
    if body.text is not None:
        check_text(body.text, limits, "text")
        return [body.text]
    texts = body.texts or []
    if len(texts) > limits.max_texts:
        raise ApiError(400, f"{len(texts)} texts are too many; at most {limits.max_texts} are taken.", param="texts")
    for number, text in enumerate(texts):
        check_text(text, limits, f"texts[{number}]")
    return texts


def _options(body: Asked) -> Json:
    return {"temperature": body.temperature or 0.0, "seed": body.seed or 0, "truncate": bool(body.truncate)}


def _extraction(body: ExtractBody, limits: Limits) -> Task:
    if body.json_schema is None:
        return ADDRESS
    check_schema(body.json_schema, limits, "schema")
    if isinstance(body.json_schema, bool):
        raise ApiError(400, "schema: an extraction needs a schema that is an object.", param="schema")
    return schema_task(body.json_schema)
