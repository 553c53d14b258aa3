"""Options that make no sense, told by name. Knows nothing of what they are for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from types import UnionType

from copydesk.errors import UsageError
from copydesk.types import Sampling

Kind = tuple[type | UnionType, str]
"""What a value is an instance of, and how that is called."""
NUMBER: Kind = (Real, "a number")
WHOLE: Kind = (Integral, "a whole number")
WHOLE_OR_NONE: Kind = (Integral | None, "a whole number or None")
TRUTH: Kind = (bool, "True or False")
TEXT_OR_NONE: Kind = (str | None, "a text or None")

_SAMPLING: Mapping[str, tuple[Kind, float, float, str]] = {
    "temperature": (NUMBER, 0.0, math.inf, "from 0 up"),
    "top_p": (NUMBER, 0.0, 1.0, "from 0 to 1"),
    "top_k": (WHOLE, 0, math.inf, "from 0 up"),
    "min_p": (NUMBER, 0.0, 1.0, "from 0 to 1"),
    "repetition_penalty": (NUMBER, 1e-3, math.inf, "above 0"),
    "presence_penalty": (NUMBER, -math.inf, math.inf, "that is finite"),
    "frequency_penalty": (NUMBER, -math.inf, math.inf, "that is finite"),
}
"""By field: its kind, its bounds, and how they are told."""


def check_kinds(options: object, kinds: Mapping[str, Kind]) -> None:
    """Errors: `UsageError` for an attribute of `options` that is no instance of its kind."""
    for name, (kind, words) in kinds.items():
        value = getattr(options, name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UsageError(f"{name} is {words}, not {value!r}.")


def check_sampling(sampling: Sampling) -> None:
    """Errors: `UsageError` for a value that is of a wrong kind or out of bounds."""
    check_kinds(sampling, {name: kind for name, (kind, *_) in _SAMPLING.items()})
    for name, (_, low, high, words) in _SAMPLING.items():
        value = getattr(sampling, name)
        if not (low <= value <= high and math.isfinite(value)):
            raise UsageError(f"{name} is a number {words}, not {value}.")
    check_seed(sampling.seed)


def check_seed(seed: int) -> None:
    """Errors: `UsageError` for a seed that is none."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise UsageError(f"seed is a whole number, not {seed!r}.")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed is a whole number from 0 up and below 2 to the power of 64, not {seed}.")


def check_max_tokens(most: int | None) -> None:
    """Errors: `UsageError` for a length below 1."""
    if most is not None and most < 1:
        raise UsageError(f"max_tokens is at least 1, not {most}.")
