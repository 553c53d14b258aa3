"""What answers of one schema are: how the schema is sent to an engine, and what makes a text an answer of it.

Whoever wrote the text, it is checked here: strict JSON, the schema, its formats, and values that must stand in the
source. Knows nothing of engines.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from copydesk.desk.runs import Runs
from copydesk.desk.schema.bounds import Bounds
from copydesk.desk.schema.checking import checker
from copydesk.desk.schema.formats import FORMATS
from copydesk.desk.schema.prepare import prepare
from copydesk.desk.sites import Site, site
from copydesk.errors import SchemaError
from copydesk.types import Grounding, Json

_BOUNDS = Bounds(4096, 2048)
"""Plenty: only whether the schema can be honoured at all is found out with them."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value is schemas by names of the caller's own."""
_DATA = ("enum", "const", "default", "examples", "required")
_OPEN = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref", "if"}
)
"""Beside these, what an object may hold is not said by its `properties` alone."""


class UnfitError(Exception):
    """A text that is no answer of the schema; says why."""


class Shape:
    """The answers of one schema."""

    def __init__(self, schema: Json, grounded: Mapping[str, Grounding]) -> None:
        """`grounded` adds top-level fields to those that the schema declares so. Errors: `SchemaError`."""
        from jsonschema import FormatChecker

        try:
            prepare(schema, _BOUNDS)  # refuses what no answer could be held to
            self._root = site(schema, grounded)
            self.sent: Json = _sent(schema)
        except RecursionError as error:
            raise SchemaError("The schema is nested too deeply; flatten it.") from error
        formats = FormatChecker(formats=())
        for name, pattern in FORMATS.items():
            formats.checks(name)(_matcher(pattern))
        self._validator = checker(schema, formats)

    def read(self, text: str) -> Any:
        """The value that a text stands for, keys in the schema's order. Errors: `UnfitError`, `SchemaError`."""
        value = strict(text)
        try:
            error = next(self._validator.iter_errors(value), None)
        except ValueError as wrong:
            raise SchemaError(f"A pattern of the schema cannot be checked here: {wrong}.") from wrong
        if error is not None:
            raise UnfitError(f"at {error.json_path}, {error.message[:200]}")
        return _ordered(value, self._root)

    def ungrounded(self, value: Any, source: str) -> tuple[str, str] | None:
        """The path and text of a value that must stand in the source and does not; None if there is none."""
        runs = Runs(source)
        return next(
            ((path, text) for path, text, most in _grounded(value, self._root, "") if not _is_run(text, runs, most)),
            None,
        )


def strict(text: str) -> Any:
    """The value of a JSON text. Errors: `UnfitError` for anything beside it, double keys and what is no Unicode."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UnfitError(f"it is no JSON value: {error}") from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _constant(written: str) -> Any:
    raise ValueError(f"{written} is no number")


def _float(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written} is too large")
    return number


def _matcher(pattern: str) -> Any:
    compiled = re.compile(pattern)
    return lambda value: not isinstance(value, str) or compiled.fullmatch(value) is not None


def _sent(schema: Any) -> Any:
    """The schema as engines know it: without our own keyword, and its objects closed as our own grammar has them."""
    if isinstance(schema, list):
        return [_sent(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    sent: Json = {}
    for keyword, value in schema.items():
        if keyword in _NAMED and isinstance(value, Mapping):
            sent[keyword] = {name: _sent(part) for name, part in value.items()}
        elif keyword == "allOf":
            sent[keyword] = value  # what is closed in one part of it would close the others
        elif keyword != "grounded":
            sent[keyword] = value if keyword in _DATA else _sent(value)
    if sent.get("properties") and not sent.keys() & _OPEN:
        sent["additionalProperties"] = False
    return sent


def _ordered(value: Any, place: Site | None) -> Any:
    """The value with the keys of its objects in the schema's order, those it does not name last."""
    if isinstance(value, dict):
        order = {name: index for index, name in enumerate(place.members if place else ())}
        names = sorted(value, key=lambda name: order.get(name, len(order)))
        return {name: _ordered(value[name], place.member(name) if place else None) for name in names}
    if isinstance(value, list):
        return [_ordered(item, place.item(index) if place else None) for index, item in enumerate(value)]
    return value


def _grounded(value: Any, place: Site | None, path: str) -> Iterator[tuple[str, str, int]]:
    """Strings that must stand in the source: their paths, themselves, and of how many runs each may be."""
    if place is None:
        return
    if isinstance(value, str) and place.runs:
        yield path or "value", value, place.runs
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _grounded(member, place.member(name), f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _grounded(item, place.item(index), f"{path}[{index}]")


def _is_run(text: str, runs: Runs, most: int) -> bool:
    reached = runs.start(most)
    for character in text:
        moved = runs.after(reached, character)
        if moved is None:
            return False
        reached = moved
    return True
