"""Whether a value is what a JSON Schema asks for: jsonschema's checks, in time that no regular expression makes long.

Knows nothing of grammars: what these hold while writing, this finds afterwards in what others wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from copydesk.desk.schema.expressions import found
from copydesk.types import Json

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


def checker(schema: Json, formats: FormatChecker | None = None) -> Validator:
    """A validator of the schema (draft 2020-12 unless it names another); formats are checked by `formats`, if at all.

    What it is used for raises `ValueError` for a regular expression that is not understood.
    """
    from jsonschema import Draft202012Validator  # 60 ms, which most calls need not spend
    from jsonschema.validators import extend, validator_for

    own = {"pattern": _pattern, "patternProperties": _pattern_properties, "additionalProperties": _additional}
    kind = extend(validator_for(schema, default=Draft202012Validator), own)  # type: ignore[no-untyped-call]
    made: Validator = kind(schema, format_checker=formats)
    return made


def _pattern(validator: Any, pattern: str, value: Any, schema: Json) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not found(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Json, value: Any, schema: Json) -> Iterator[ValidationError]:
    if isinstance(value, Mapping):
        for pattern, part in patterns.items():
            for name in [name for name in value if found(pattern, name)]:
                yield from validator.descend(value[name], part, path=name, schema_path=pattern)


def _additional(validator: Any, part: Json | bool, value: Any, schema: Json) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(value, Mapping):
        return
    patterns = schema.get("patternProperties", {})
    others = [
        name
        for name in value
        if name not in schema.get("properties", {}) and not any(found(pattern, name) for pattern in patterns)
    ]
    if part is False and others:
        yield ValidationError(f"{', '.join(map(repr, others))} may not be there")
    elif isinstance(part, Mapping):
        for name in others:
            yield from validator.descend(value[name], part, path=name)
