"""Numbers, strings and listed values of a conjunction, as plain schemas that the grammar holds to exactly.

Every number gets a range and a number of digits, every string a length. None stands for what nothing satisfies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Any

from llguidance import LLMatcher

from copydesk.desk.schema import expressions
from copydesk.desk.schema.conjunction import Conjunction, both_types, type_of
from copydesk.desk.schema.formats import FORMATS, FREE, INTEGER_RANGES
from copydesk.desk.schema.keywords import unsupported
from copydesk.types import Json

_LARGEST_INTEGER = 10**18
_LARGEST_NUMBER = 10**15
_EXACT = 2**53
"""Integers up to here are exact in the floating point that the grammar computes in."""
_DECIMALS = 9
_DIGITS = 15
"""Significant digits that survive floating point: more could round a value onto the bound that excludes it."""
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f\x7f]")
"""Characters that JSON can only write as `\\u00XX`, or that the grammar cannot write."""
_ENDLESS = re.compile(r"[*+|]|\{[0-9]*,\}")
"""What may leave the length of a match open, among it an anchor that belongs to one alternative only."""


def refuse_unreadable(case: Conjunction) -> None:
    """Refuse what one schema node asks for and cannot be held to, whatever else applies at its place."""
    if "string" in case.types:
        for name in case.formats:
            if name not in FORMATS and name not in FREE:
                raise unsupported(f'format "{name}"', case.path, "write it as a pattern, or leave it out")
        for pattern in case.patterns:
            if not _readable(pattern):
                remedy = f"{pattern!r} holds what cannot be held to, such as a lookaround"
                raise unsupported("pattern", case.path, remedy)
            _refuse_long(pattern, "pattern", case.path)
    if "object" in case.types:
        for shape in case.shapes:
            _refuse_long(shape, "patternProperties", case.path)
    if case.types & {"integer", "number"}:
        _factor(case)
    if "array" in case.types and case.unique and case.limits.get("maxItems", 2) > 1:
        raise unsupported("uniqueItems", case.path, "leave it out and drop repeated items afterwards")


def _refuse_long(pattern: str, keyword: str, path: str) -> None:
    """Refuse a pattern that asks for more at once than any answer holds."""
    try:
        run = expressions.longest_run(pattern)
    except ValueError as error:
        raise unsupported(keyword, path, f"{pattern!r} cannot be held to: {error}") from None
    if run > expressions.LONGEST_RUN:
        raise unsupported(
            keyword, path, f"{pattern!r} asks for {run:,} characters; {expressions.LONGEST_RUN:,} are most"
        )


def integer(case: Conjunction) -> Json | None:
    """An integer within the limits, of at most 18 digits."""
    low, high = _range(case, _LARGEST_INTEGER)
    least = math.floor(low) + 1 if _excluded(case, "exclusiveMinimum", low) else math.ceil(low)
    most = math.ceil(high) - 1 if _excluded(case, "exclusiveMaximum", high) else math.floor(high)
    for name in case.formats:
        if name in INTEGER_RANGES:
            least, most = max(least, INTEGER_RANGES[name][0]), min(most, INTEGER_RANGES[name][1])
    least, most = _representable(least, 1), _representable(most, -1)
    factor = _factor(case)
    if least > most or (factor and most // factor * factor < least):
        return None
    return {"type": "integer", "minimum": least, "maximum": most, **({"multipleOf": factor} if factor else {})}


def number(case: Conjunction) -> Json | None:
    """A number within the limits, of at most 15 digits before and 9 after the point."""
    low, high = _range(case, _LARGEST_NUMBER)
    over, under = _excluded(case, "exclusiveMinimum", low), _excluded(case, "exclusiveMaximum", high)
    if low > high or (low == high and (over or under)):
        return None
    factor = _factor(case)
    largest = max(abs(bound) for bound, excluded in ((low, over), (high, under), (0, True)) if excluded)
    decimals = 0 if factor else max(0, min(_DECIMALS, _DIGITS - len(str(int(largest)))))
    step = Decimal(factor or 1).scaleb(-decimals)
    # Exclusive limits become inclusive ones a step further in: the grammar lets some exclusive ones through.
    least, most = _stepped(low, step, ROUND_CEILING), _stepped(high, step, ROUND_FLOOR)
    least += step * (over and least == Decimal(repr(low)))
    most -= step * (under and most == Decimal(repr(high)))
    if least > most:
        raise unsupported(
            "minimum", case.path, f"there is no number of at most {decimals} decimals in so small a range"
        )
    within = {"type": "number", "minimum": float(least), "maximum": float(most), "multipleOf": float(step)}
    begun = [float(value) for value in _begun(least) + _begun(most) if least <= value <= most]
    return {"anyOf": [within, {"enum": begun}]} if begun else within


def _begun(bound: Decimal) -> list[Decimal]:
    """The numbers that a bound's digits begin with: of those after the point the grammar takes none for a number nearer
    to zero than the bound (1.9 where 1.99 is the most)."""
    whole, _, decimals = f"{bound.normalize():f}".partition(".")
    begun = (decimals[:count] for count in range(1, len(decimals)))
    return [Decimal(f"{whole}.{part}") for part in begun if not part.endswith("0")]


def string(case: Conjunction, longest: int) -> Json | None:
    """A string that matches all patterns and formats, at most `longest` code points where no length is given."""
    least = int(case.limits.get("minLength", 0))
    most = int(case.limits.get("maxLength", max(longest, 2 * least)))
    if least > most:
        return None
    patterns = [f"^(?:{FORMATS[name]})$" for name in case.formats if name in FORMATS]
    patterns += case.patterns
    result: Json = {"type": "string"}
    if "maxLength" in case.limits or not patterns or any(map(_is_endless, case.patterns)):
        result["maxLength"] = most
    if least:
        result["minLength"] = least
    if len(patterns) == 1:
        result["pattern"] = patterns[0]
    elif patterns:
        result = {"allOf": [{**result, "pattern": pattern} for pattern in patterns]}
    return result


def listed(case: Conjunction) -> Json | None:
    """Those of the choices that satisfy everything else."""
    values = [_narrowed(value) for value in case.choices or () if _allowed(value, case)]
    for value in values:
        _check_writable(value, case)
    return {"enum": values} if values else None


def key_pattern(pattern: str, longest: int) -> str:
    """A pattern that keys matching `pattern` anywhere match as a whole, open ends bounded to `longest` characters."""
    head = "" if pattern.startswith("^") else f"{_KEY_CHARACTER}{{0,{longest}}}"
    tail = "" if pattern.endswith("$") and not pattern.endswith("\\$") else f"{_KEY_CHARACTER}{{0,{longest}}}"
    return f"^{head}(?:{pattern.removeprefix('^').removesuffix('$') if not tail else pattern.removeprefix('^')}){tail}$"


_KEY_CHARACTER = '[^"\\\\\\x00-\\x1f\\x7f]'


def any_key(least: int, most: int) -> str:
    """A pattern for free keys of a length."""
    return f"^{_KEY_CHARACTER}{{{least},{most}}}$"


def disjoint(patterns: Iterable[str]) -> bool:
    """Whether no key matches two of the patterns."""
    return _is_valid({"type": "object", "patternProperties": dict.fromkeys(patterns, True)})


def _range(case: Conjunction, largest: int) -> tuple[float, float]:
    """The tighter of the inclusive and the exclusive limit at each end."""
    limits = case.limits
    low = max(limits.get("minimum", -largest), limits.get("exclusiveMinimum", -largest))
    high = min(limits.get("maximum", largest), limits.get("exclusiveMaximum", largest))
    for name, bound, outside in (("minimum", low, low > largest), ("maximum", high, high < -largest)):
        if outside or not math.isfinite(bound):
            raise unsupported(name, case.path, f"numbers reach to {largest:.0e} at most")
    return max(low, -largest), min(high, largest)


def _stepped(bound: float, step: Decimal, rounding: str) -> Decimal:
    """The multiple of `step` next to a bound."""
    return (Decimal(repr(bound)) / step).to_integral_value(rounding) * step


def _excluded(case: Conjunction, name: str, bound: float) -> bool:
    return case.limits.get(name) == bound


def _representable(bound: int, inward: int) -> int:
    """The nearest integer, upwards if `inward` is 1 and downwards if -1, that floating point holds exactly."""
    return bound if abs(bound) <= _EXACT else inward * -(inward * -bound // 1024) * 1024


def _factor(case: Conjunction) -> int | None:
    factor = case.limits.get("multipleOf")
    if factor is None:
        return None
    if not float(factor).is_integer() or not 0 < factor < 2**31:
        raise unsupported(
            "multipleOf", case.path, "only whole factors can be held to exactly; round the value afterwards"
        )
    return int(factor)


def _is_endless(pattern: str) -> bool:
    return not (pattern.startswith("^") and pattern.endswith("$")) or bool(_ENDLESS.search(pattern))


@lru_cache(maxsize=256)
def _readable(pattern: str) -> bool:
    return _is_valid({"type": "string", "pattern": pattern})


def _is_valid(schema: Json) -> bool:
    return not LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema))


def _allowed(value: Any, case: Conjunction) -> bool:
    if not both_types(frozenset({type_of(value)}), case.types):
        return False
    limits = case.limits
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        low, high = limits.get("minimum", -math.inf), limits.get("maximum", math.inf)
        over, under = limits.get("exclusiveMinimum", -math.inf), limits.get("exclusiveMaximum", math.inf)
        factor = _factor(case)
        return low <= value <= high and over < value < under and not (factor and value % factor)
    if isinstance(value, str):
        fits = limits.get("minLength", 0) <= len(value) <= limits.get("maxLength", math.inf)
        return fits and all(_found(pattern, value, case) for pattern in case.patterns)
    if set(limits) & {"minItems", "maxItems", "minProperties", "maxProperties"} or case.required or case.properties:
        raise unsupported("enum", case.path, "listed arrays and objects take no other constraints")
    return True


def _found(pattern: str, value: str, case: Conjunction) -> bool:
    try:
        return expressions.found(pattern, value)
    except ValueError:
        raise unsupported("pattern", case.path, "leave it out where the values are listed") from None


def _narrowed(value: Any) -> Any:
    """Whole numbers as integers: that is how the grammar writes them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_writable(value: Any, case: Conjunction) -> None:
    if isinstance(value, str) and _CONTROL.search(value):
        raise unsupported("enum", case.path, f"{value!r} holds a control character")
    if isinstance(value, int) and abs(value) > _EXACT:
        raise unsupported("enum", case.path, f"{value} has too many digits; make it a string")
    if isinstance(value, float) and ("e" in repr(value) or not math.isfinite(value)):
        raise unsupported("enum", case.path, f"{value} cannot be written without an exponent; make it a string")
    if isinstance(value, list):
        for item in value:
            _check_writable(item, case)
    if isinstance(value, dict):
        for name, item in value.items():
            _check_writable(name, case)
            _check_writable(item, case)
