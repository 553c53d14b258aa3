"""How large and how deep what callers send is, found out without reading it deeply.

Knows no route. All counts are made on bytes at C speed, before anything recursive sees the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from copydesk.serving.errors import ApiError
from copydesk.serving.settings import Limits

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
"""Also one without an end, which reaches to the end: looked at once, whatever it holds."""
_ALIKE = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DATA = frozenset({"enum", "const", "default", "examples"})
"""Keywords of a schema under which there are no schemas."""


def nested_deeper(written: bytes, levels: int) -> bool:
    """Whether objects and arrays in JSON text stand more than `levels` deep within one another."""
    if written.count(b"[") + written.count(b"{") <= levels:
        return False
    brackets = _STRING.sub(b"", written).translate(_ALIKE, _ALL_BUT_BRACKETS)
    if len(brackets) <= levels:
        return False
    steps = np.where(np.frombuffer(brackets, np.uint8) == ord("["), 1, -1).astype(np.int32)
    return int(steps.cumsum().max()) > levels


def check_schema(schema: Any, limits: Limits, param: str) -> None:
    """Errors: `ApiError` 400 for a JSON Schema that is too large, too deep, or holds too long a pattern."""
    written = orjson.dumps(schema)
    if len(written) > limits.max_schema_bytes:
        raise ApiError(
            400,
            f"The schema is {len(written):,} bytes long; at most {limits.max_schema_bytes:,} are taken.",
            param=param,
            code="schema_too_large",
        )
    if nested_deeper(written, limits.max_schema_depth):
        raise ApiError(
            400,
            f"The schema is nested more than {limits.max_schema_depth} levels deep; flatten it, or use $ref.",
            param=param,
            code="schema_too_deep",
        )
    if b'"pattern' in written:
        _check_patterns(schema, limits, param)


def check_regex(regex: str, limits: Limits, param: str) -> None:
    """Errors: `ApiError` 400 for one that is too long."""
    if len(regex) > limits.max_regex_characters:
        raise ApiError(
            400,
            f"A regular expression of {len(regex):,} characters is too long; at most {limits.max_regex_characters:,} "
            "are taken.",
            param=param,
            code="regex_too_long",
        )


def check_text(text: str, limits: Limits, param: str) -> None:
    """Errors: `ApiError` 400 for one that is too long."""
    if len(text) > limits.max_text_characters:
        raise ApiError(
            400,
            f"A text of {len(text):,} characters is too long; at most {limits.max_text_characters:,} are taken.",
            param=param,
            code="too_long",
        )


def tokens(*texts: str) -> int:
    """About how many tokens texts are, without a tokenizer: three bytes of UTF-8 each, so one Chinese character."""
    return sum(len(text.encode()) // 3 + 1 for text in texts)


def _check_patterns(schema: Any, limits: Limits, param: str) -> None:
    if isinstance(schema, list):
        for inner in schema:
            _check_patterns(inner, limits, param)
    if not isinstance(schema, Mapping):
        return
    if isinstance(pattern := schema.get("pattern"), str):
        check_regex(pattern, limits, param)
    if isinstance(named := schema.get("patternProperties"), Mapping):
        for pattern in named:
            check_regex(pattern, limits, param)
    for keyword, inner in schema.items():
        if keyword not in _DATA:
            _check_patterns(inner, limits, param)
