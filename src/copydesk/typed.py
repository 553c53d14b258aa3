"""Values as the caller's own pydantic classes.

Knows nothing of how they came about.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from copydesk.errors import AnswerError
from copydesk.types import Answer, Reply, Schema, Task


def typed_answer(answer: Answer[Any], task: Task) -> Answer[Any]:
    """The answer with its value as an instance of the schema's class, if it came from one. Errors: `AnswerError`."""
    return answer if _model(task.schema) is None else replace(answer, value=_typed(answer.value, task.schema))


def typed_reply(reply: Reply, schema: Schema | None) -> Reply:
    """The same of a reply."""
    return reply if _model(schema) is None else replace(reply, value=_typed(reply.value, schema))


def _model(schema: Schema | None) -> type[BaseModel] | None:
    return None if schema is None else schema.model


def _typed(value: Any, schema: Schema | None) -> Any:
    model = _model(schema)
    if model is None:
        return value
    written = json.dumps(value, ensure_ascii=False)
    try:
        # As JSON rather than as a dict: a strict class takes a date's or an enum's text only from JSON.
        return model.model_validate_json(written)
    except Exception as error:  # pydantic's own, and whatever a validator of the class raises
        raise AnswerError(
            f"{model.__name__} refuses the answer {written}: {_reason(error)}. "
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
