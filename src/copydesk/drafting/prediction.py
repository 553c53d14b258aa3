"""The caller's own guess at an answer, in whatever layout, written in the one that answers have.

What cannot be read as an answer of the task is no draft; what is missing from it is looked up. Knows nothing of models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from copydesk.drafting.expected import ABSENT, PRESENT, offer
from copydesk.drafting.layout import Guess
from copydesk.drafting.shape import Items, Leaf, Record, Shape, shape_of
from copydesk.drafting.strings import content, quoted
from copydesk.types import Draft, Task

_decoder = json.JSONDecoder()


def draft(task: Task, text: str, so_far: str, prediction: Any) -> Draft | None:
    """The predicted answer, beginning with `so_far`; None if the prediction is none of the task, or adds nothing.

    `prediction` is a JSON text (perhaps with other text around it), what such a text stands for, or a label.
    """
    shape = shape_of(task)
    value = next((value for value in _readings(prediction, shape) if _fits(value, shape)), None)
    if value is None:
        return None
    known = _Known()
    try:
        known.add(value, shape, "")
    except RecursionError:
        return None
    return offer(task, text, so_far, "prediction", known.singles, known.arrays)


def _readings(prediction: Any, shape: Shape) -> Iterator[Any]:
    """What a text may stand for: all of it, or the first object or array in it."""
    if not isinstance(prediction, str) or (isinstance(shape, Leaf) and "label" in shape.kinds):
        yield prediction
        return
    for place in {len(prediction) - len(prediction.lstrip()): None} | dict.fromkeys(map(prediction.find, "{[")):
        if place >= 0:
            with suppress(ValueError, RecursionError):
                yield _decoder.raw_decode(prediction, place)[0]


def _fits(value: Any, shape: Shape) -> bool:
    """Whether a value is of the kind that an answer is, and says anything of what is asked."""
    if isinstance(shape, Record):
        return isinstance(value, Mapping) and any(key.name in value for key in shape.keys)
    if isinstance(shape, Items):
        return isinstance(value, list)
    return isinstance(shape, Leaf) and _written(value, shape) is not None


class _Known:
    """A predicted value, part by part."""

    def __init__(self) -> None:
        self.singles: dict[str, Guess] = {}
        self.arrays: dict[str, list[dict[str, Guess]]] = {}

    def add(self, value: Any, shape: Shape, path: str) -> None:
        """Add a value and what is in it, as far as it fits the shape."""
        if isinstance(shape, Leaf):
            text = _written(value, shape)
            if text is not None:
                self.singles[path] = Guess(text)
            return
        if value is None:
            self.singles[f"{path}?"] = Guess(ABSENT)
        elif isinstance(shape, Record) and isinstance(value, Mapping):
            self.singles[f"{path}?"] = Guess(PRESENT)
            for key in shape.keys:
                name = f"{path}.{key.name}" if path else key.name
                if key.name in value:
                    self.add(value[key.name], key.shape, name)
                elif not key.required:
                    self.singles[name if isinstance(key.shape, Leaf) else f"{name}?"] = Guess(ABSENT)
        elif isinstance(shape, Items) and isinstance(value, list):
            self.singles[f"{path}?"] = Guess(PRESENT)
            for index, item in enumerate(value):
                self.singles[f"{path}[{index}]?"] = Guess(PRESENT)
                self.add(item, shape.item, f"{path}[{index}]")
            if isinstance(shape.item, Leaf) or _is_flat(shape.item):
                self.arrays[path] = [_item(item, shape.item) for item in value]


def _is_flat(shape: Shape) -> bool:
    return isinstance(shape, Record) and all(isinstance(key.shape, Leaf) for key in shape.keys)


def _item(value: Any, shape: Shape) -> dict[str, Guess]:
    """A flat item of an array: its values by path from there."""
    known = _Known()
    known.add(value, shape, "")
    return {f".{path}" if isinstance(shape, Record) else path: guess for path, guess in known.singles.items()}


def _written(value: Any, leaf: Leaf) -> str | None:
    """A value as an answer writes it; None if the leaf cannot hold it, even written in another way."""
    if isinstance(value, Mapping | list):
        return None
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if leaf.choices:
        wanted = plain.strip().strip('"').casefold()
        named = (choice for choice in leaf.choices if _name(choice, leaf).casefold() == wanted)
        return next(named, None)
    if isinstance(value, str) and "string" in leaf.kinds:
        return quoted(value)
    if value is None or isinstance(value, bool):
        return plain if ("null" if value is None else "boolean") in leaf.kinds else None
    if leaf.kinds & {"number", "integer"}:
        return _number(plain, whole="number" not in leaf.kinds)
    return quoted(plain) if "string" in leaf.kinds else None


def _name(choice: str, leaf: Leaf) -> str:
    if "label" in leaf.kinds:
        return choice.strip()
    named = content(choice)
    return choice if named is None else named.strip()


def _number(text: str, *, whole: bool) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if whole:
        return str(int(value)) if value == int(value) else None
    plain = text.strip()
    return format(Decimal(plain), "f") if "e" in plain.lower() else plain  # answers have no exponents
