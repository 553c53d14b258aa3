"""From a table of a TOML file to a settings dataclass: every key known, every value of its kind and within bounds.

Kinds are the dataclass's annotations. Knows no setting's meaning.
"""

from __future__ import annotations

import difflib
import math
import types
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from copydesk.errors import UsageError

Settings = TypeVar("Settings")
_MAY_BE_ZERO = frozenset({"port", "linger_seconds", "waiting", "waiting_tokens", "weight"})
"""All other numbers are above it."""
_SHARES = frozenset({"failed_share", "failed_margin", "invalid_margin"})
"""At most 1."""
_HIGHEST_PORT = 65535


def check_known(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Errors: `UsageError` for a key that is not known, with the nearest one that is."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise UsageError(f"{named(where, key)} is not known; {hint}")


def filled(kind: type[Settings], table: Mapping[str, Any], where: str, **more: Any) -> Settings:
    """The dataclass `kind` with the table's values over its defaults, and `more` over both.

    Errors: `UsageError` in one line that names the key.
    """
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.name not in more]  # type: ignore[arg-type]
    check_known(table, names, where)
    values = {name: checked(value, hints[name], named(where, name), name) for name, value in table.items()}
    return kind(**(values | more))


def named(where: str, key: str) -> str:
    """How an error calls a key."""
    return f"{where}.{key}" if where else key


def checked(value: Any, kind: Any, where: str, name: str) -> Any:
    """The value as `kind` has it. Errors: `UsageError` that says what it should be."""
    options = [option for option in _options(kind) if option is not type(None)]
    words = " or ".join(_words(option) for option in options)
    for option in options:
        fits, found = _fitted(value, option)
        if fits:
            if isinstance(found, int | float) and not isinstance(found, bool):
                _check_number(found, where, name)
            return found
    raise UsageError(f"{where} is {words}, not {_shown(value)}.")


def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _fitted(value: Any, kind: Any) -> tuple[bool, Any]:
    """Whether the value is of the kind, and the value as the kind has it."""
    origin = get_origin(kind)
    if origin is Literal:
        return value in get_args(kind), value
    if origin is tuple:
        texts = isinstance(value, list) and all(isinstance(each, str) and each for each in value)
        return texts, tuple(value) if texts else ()
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict), value
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number, float(value) if number else 0.0
    if kind is int:
        return type(value) is int, value
    return isinstance(value, kind), value


def _check_number(value: float, where: str, name: str) -> None:
    if not math.isfinite(value):
        raise UsageError(f"{where} is a number that ends, not {value}.")
    least = "0 or more" if name in _MAY_BE_ZERO else "more than 0"
    if value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
        raise UsageError(f"{where} is {least}, not {value:g}.")
    if name in _SHARES and value > 1:
        raise UsageError(f"{where} is a share, at most 1, not {value:g}.")
    if name == "port" and value > _HIGHEST_PORT:
        raise UsageError(f"{where} is at most {_HIGHEST_PORT}, not {value:g}.")


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(repr(each) for each in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(kind, "a table")


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"
