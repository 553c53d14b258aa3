"""Examples of a task: texts with their right answers, checked, and written as the model is to write answers.

Knows no models. An example that is no possible answer would teach mistakes, so it is refused before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ValidationError

from copydesk.desk.schema.checking import checker
from copydesk.drafting.shape import Items, Record, Shape, shape_of
from copydesk.drafting.strings import quoted
from copydesk.errors import UsageError
from copydesk.types import Example, Schema, Task

_LONGEST_REASON = 300
"""Characters: a validator may quote a whole record."""


def checked_examples(task: Task, pairs: Sequence[tuple[str, Any]], named: Callable[[int], str]) -> tuple[Example, ...]:
    """Examples of `(text, answer)`: a label, or a record as a dict or an instance of the task's pydantic class.

    Errors: `UsageError` `invalid_example`, beginning with `named` of the example's number from 1.
    """
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Sequence):
        raise UsageError("Examples are a list of (text, answer).", code="invalid_example")
    found = []
    for number, pair in enumerate(pairs, 1):
        try:
            found.append(_example(task, pair))
        except ValueError as error:
            raise UsageError(f"{named(number)}: {error}.", code="invalid_example") from error
    return tuple(found)


def _example(task: Task, pair: Any) -> Example:
    """Errors: `ValueError`."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError("an example is (text, answer)")
    text, answer = pair
    if not isinstance(text, str) or not text.strip():
        raise ValueError("its text is empty, or no text")
    if task.schema is None:
        if answer not in task.labels:
            raise ValueError(f"{answer!r} is none of the labels {', '.join(task.labels)}")
        return Example(text, answer)
    return Example(text, _checked(task.schema, shape_of(task), answer))


def _checked(schema: Schema, shape: Shape, answer: Any) -> str:
    """A record that satisfies a schema, as it is written. Errors: `ValueError`."""
    from jsonschema.exceptions import best_match  # 60 ms, which most calls need not spend

    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json", by_alias=True)
    try:
        written = _written(answer, shape)
        wrong = best_match(checker(schema.json).iter_errors(json.loads(written)))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"its answer is no JSON ({error})") from error
    if wrong is not None:
        place = f"{wrong.json_path.removeprefix('$').removeprefix('.')}: " if wrong.path else ""
        raise ValueError(f"its answer does not satisfy the schema: {place}{_shortened(wrong.message)}")
    if schema.model is not None:
        _read(schema.model, written)
    return written


def _read(model: type[BaseModel], written: str) -> None:
    """Errors: `ValueError` for a record that the caller's class refuses."""
    try:
        model.model_validate_json(written)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{model.__name__} refuses its answer: {place}: {_shortened(first['msg'])}") from error
    except Exception as error:  # whatever a validator of the class raises
        raise ValueError(f"{model.__name__} refuses its answer: {_shortened(repr(error))}") from error


def _written(value: Any, shape: Shape) -> str:
    """JSON in the layout of answers: one line, keys in the order of the schema. Errors: `TypeError`, `ValueError`."""
    if isinstance(value, Mapping):
        shapes = {key.name: key.shape for key in shape.keys} if isinstance(shape, Record) else {}
        names = [*(name for name in shapes if name in value), *(name for name in value if name not in shapes)]
        pairs = (f"{quoted(name)}: {_written(value[name], shapes.get(name, shape))}" for name in names)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        item = shape.item if isinstance(shape, Items) else shape
        return "[" + ", ".join(_written(one, item) for one in value) + "]"
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return format(Decimal(written), "f") if isinstance(value, float) and "e" in written else written


def _shortened(reason: str) -> str:
    reason = reason.rstrip(".")
    return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"
