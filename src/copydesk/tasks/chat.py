"""A call's options settled: from a preset and what overrides it to a request to the desk.

Knows nothing of models: whether a schema can be honoured, or whether a model can reason, is the desk's business.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from copydesk.desk.chat_request import ChatRequest
from copydesk.errors import UsageError
from copydesk.tasks.presets import DEFAULT_PRESET, PRESETS, THINKING_FACTOR, Preset
from copydesk.tasks.task import extraction
from copydesk.tasks.thinking import decide
from copydesk.types import Constraint, Json, Messages, Sampling, Schema, Thinking

if TYPE_CHECKING:
    from pydantic import BaseModel

_SAMPLING = tuple(field.name for field in fields(Sampling))


def chat_request(messages: Messages | str, thinking: Thinking = "auto", **options: Any) -> ChatRequest:
    """The request that `Model.chat` makes, of options as `ChatOptions` has them.

    A single user message with a built-in task's schema gets that task's instruction: such a schema is the task.
    Errors: `UsageError`, `TextError`, `SchemaError` as `ChatRequest`.
    """
    if thinking not in ("auto", "on", "off"):
        raise UsageError(f"thinking is auto, on or off, not {thinking!r}.")
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    plain, preset, max_tokens = _request(options, messages=messages)
    if [message["role"] for message in plain.messages] == ["user"]:
        told = _builtin_instruction(plain.constraint)
        if told is not None:
            plain = replace(plain, messages=[{"role": "system", "content": told}, *plain.messages])
    if not decide(thinking, plain.messages, plain.constraint):
        return plain
    longest = THINKING_FACTOR * preset.max_tokens if max_tokens is None else max_tokens
    return replace(plain, thinking=True, max_tokens=longest)


def is_trained(request: ChatRequest) -> bool:
    """Whether a request asks for what the built-in model was trained for, as it was."""
    return len(request.messages) == 2 and request.messages[0]["content"] == _builtin_instruction(request.constraint)


def completion_request(prompt: str, **options: Any) -> ChatRequest:
    """The request that `Model.complete` makes, of options as `CompletionOptions` has them. Errors: as above."""
    return _request(options, prompt=prompt)[0]


def _builtin_instruction(constraint: Constraint) -> str | None:
    """Of the built-in task that a schema is, if it is one."""
    task = None if constraint.schema is None else extraction(constraint.schema)
    return task.instruction if task is not None and task.builtin else None


def _request(options: dict[str, Any], **asked: Any) -> tuple[ChatRequest, Preset, int | None]:
    """Without reasoning; the preset and the caller's own length beside."""
    name = options.pop("preset", DEFAULT_PRESET)
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}; choose {' or '.join(PRESETS)}.")
    preset = PRESETS[name]
    own = {option: value for option in _SAMPLING if (value := options.pop(option, None)) is not None}
    max_tokens = options.pop("max_tokens", None)
    request = ChatRequest(
        **asked,
        sampling=replace(preset.sampling, **own),
        constraint=_constraint(options.pop("schema", None), options.pop("constraint", None)),
        max_tokens=preset.max_tokens if max_tokens is None else max_tokens,
        stop=_stop(options.pop("stop", ())),
        prediction=_prediction(options.pop("prediction", None)),
        **options,
    )
    return request, preset, max_tokens


def _constraint(schema: Json | type[BaseModel] | Schema | None, constraint: Constraint | None) -> Constraint:
    if constraint is not None and not isinstance(constraint, Constraint):
        raise UsageError(f"constraint is a copydesk.Constraint, not {constraint!r}.")
    if schema is None:
        if constraint is None or constraint.schema is None:
            return constraint or Constraint()
        return replace(constraint, schema=extraction(constraint.schema).schema)  # of whatever kind it was given
    if constraint is not None:
        raise UsageError("Give a schema or a constraint, not both.")
    return Constraint(schema=extraction(schema).schema)


def _stop(stop: str | Sequence[str] | None) -> tuple[str, ...]:
    if stop is None or isinstance(stop, str):
        return (stop,) if stop else ()
    if not isinstance(stop, Sequence):
        raise UsageError(f"stop is a text or a list of texts, not {stop!r}.")
    return tuple(stop)


def _prediction(prediction: Any) -> str | None:
    """A guess as text; one that cannot be written as JSON is none."""
    if prediction is None or isinstance(prediction, str):
        return prediction
    try:
        return json.dumps(prediction, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None
