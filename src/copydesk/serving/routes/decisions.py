"""`POST /v1/decisions`: questions about an input, answered by the probabilities of their answers.

OpenAI's Decisions API in the form that vLLM serves since 0.33: texts only, one read for each question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from copydesk.serving.backend import Backend
from copydesk.serving.errors import ApiError
from copydesk.serving.exchange import Exchange
from copydesk.serving.measures import check_text, tokens
from copydesk.serving.plan import Outgoing
from copydesk.serving.settings import Limits
from copydesk.serving.together import together
from copydesk.serving.wire.decision import AnyQuestion, Choice, DecisionBody, InputPart, Predicate, Score
from copydesk.tasks.task import classification
from copydesk.types import Json, Task

_TRUE, _FALSE = "true", "false"


def plan(body: DecisionBody, limits: Limits) -> DecisionPlan:
    """Understand a request. Errors: `ApiError` 400, `SchemaError`."""
    text = _text(body)
    check_text(text, limits, "input")
    read = [_task(question, f"questions[{number}]", limits) for number, question in enumerate(body.questions)]
    return DecisionPlan(
        model=body.model,
        tokens=sum(tokens(text, task.instruction) for task in read),
        text=text,
        questions=body.questions,
        read=read,
    )


@dataclass(frozen=True, slots=True)
class DecisionPlan:
    """Decisions; satisfies `Plan`."""

    model: str | None
    tokens: int
    text: str
    questions: Sequence[AnyQuestion]
    read: Sequence[Task]
    """What the model is asked for each question: the label that fits best."""
    param: str = "questions"

    async def answer(self, backend: Backend, exchange: Exchange) -> Outgoing:
        """See `Plan`."""
        answers = await together(lambda task: backend.classify(self.text, task, {}), self.read)
        for answer in answers:
            exchange.answered(answer)
        used = exchange.usage
        return orjson.dumps(
            {
                "model": backend.name,
                "answers": [
                    _shown(question, [answer.labels[label] for label in task.labels], answer.confidence)
                    for question, task, answer in zip(self.questions, self.read, answers, strict=True)
                ],
                "usage": _usage(
                    *((used.prompt_tokens, used.cached_tokens, used.completion_tokens) if used else (0, 0, 0))
                ),
            }
        )


def _text(body: DecisionBody) -> str:
    if isinstance(body.input, str):
        return body.input
    written = []
    for number, message in enumerate(body.input):
        parts = [message.content] if isinstance(message.content, str) else [*map(_part, message.content)]
        if None in parts:
            raise ApiError(400, "Only parts of type input_text are understood.", param=f"input[{number}].content")
        written.append("\n".join(filter(None, parts)))
    return "\n\n".join(written)


def _part(part: InputPart) -> str | None:
    return part.text if part.type == "input_text" else None


def _task(question: AnyQuestion, param: str, limits: Limits) -> Task:
    labels = _labels(question)
    if len(labels) > limits.max_labels:
        raise ApiError(400, f"{param}: at most {limits.max_labels} choices are taken.", param=param)
    if len(set(labels)) < len(labels):
        raise ApiError(400, f"{param}: no two answers may be the same.", param=param, code="invalid_labels")
    described = "; ".join(
        f"{label} ({text})" if text else label for label, text in zip(labels, _notes(question), strict=True)
    )
    instruction = f"{question.instructions}\nAnswer with one of: {described}"
    check_text(instruction, limits, param)
    return replace(classification(labels), name="decision", instruction=instruction, builtin=False)


def _labels(question: AnyQuestion) -> list[str]:
    """The words between which the model decides; a truth value is its JSON, a text that reads like one quoted."""
    if isinstance(question, Predicate):
        return [_FALSE, _TRUE]
    if isinstance(question, Score):
        return [level.label for level in question.levels]
    truths = any(isinstance(option.value, bool) for option in question.choices)
    return [_label(option.value, truths) for option in question.choices]


def _label(value: str | bool, truths: bool) -> str:
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return f'"{value}"' if truths and value in (_TRUE, _FALSE) else value


def _notes(question: AnyQuestion) -> list[str]:
    if isinstance(question, Predicate):
        return ["", ""]
    return [each.description for each in (question.levels if isinstance(question, Score) else question.choices)]


def _shown(question: AnyQuestion, probabilities: Sequence[float], confidence: float | None) -> Json:
    if isinstance(question, Predicate):
        return {"type": "predicate", "name": question.name, "probability": probabilities[1]}
    shown: dict[str, Any] = {"type": question.type, "name": question.name, "confidence": confidence}
    if isinstance(question, Choice):
        values = [option.value for option in question.choices]
        best = max(range(len(values)), key=probabilities.__getitem__)
        return shown | {
            "choice": values[best],
            "probabilities": [
                {"value": value, "probability": probability}
                for value, probability in zip(values, probabilities, strict=True)
            ],
        }
    return shown | {
        "score": sum(place * probability for place, probability in enumerate(probabilities)),
        "probabilities": [
            {"value": place, "label": level.label, "probability": probability}
            for place, (level, probability) in enumerate(zip(question.levels, probabilities, strict=True))
        ],
    }


def _usage(read: int, cached: int, written: int) -> Json:
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
