"""Sizes and depths."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.serving.errors import ApiError
from copydesk.serving.measures import check_regex, check_schema, check_text, nested_deeper, tokens
from copydesk.serving.settings import Limits

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}"\\a中'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='[{"\\', max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(VALUES, st.integers(0, 6))
def test_depth_is_that_of_the_value(value: Any, levels: int) -> None:
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert nested_deeper(written.encode(), levels) == (depth(value) > levels)


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 2_000_000,
        b"[" * 1_000_000 + b"]" * 1_000_000,
        b'{"a":' * 400_000,
        b'"' + b'\\"' * 1_000_000,
        b'\\"' * 1_000_000 + b"[" * 100,
        b"[]," * 600_000,
        b'"[' * 1_000_000,
    ],
)
def test_bombs_take_no_time(bomb: bytes) -> None:
    started = time.process_time()
    nested_deeper(bomb, 64)
    assert time.process_time() - started < 1.0


def test_schemas() -> None:
    limits = Limits(max_schema_bytes=100, max_schema_depth=4, max_regex_characters=5)
    check_schema({"properties": {"a": {"pattern": "a{3}"}}}, limits, "schema")
    check_schema({"properties": {"pattern": {"type": "string"}}}, limits, "schema")
    check_schema({"enum": [{"pattern": "too long"}]}, limits, "schema")
    for schema, code in (
        ({"title": "x" * 100}, "schema_too_large"),
        ({"items": {"items": {"items": {"items": {}}}}}, "schema_too_deep"),
        ({"allOf": [{"pattern": "too long"}]}, "regex_too_long"),
        ({"patternProperties": {"too long": {}}}, "regex_too_long"),
    ):
        with pytest.raises(ApiError) as caught:
            check_schema(schema, limits, "schema")
        assert (caught.value.status, caught.value.code, caught.value.param) == (400, code, "schema")


def test_texts_and_expressions() -> None:
    limits = Limits(max_text_characters=3, max_regex_characters=2)
    check_text("中文字", limits, "text")
    check_regex("a+", limits, "regex")
    with pytest.raises(ApiError, match="4 characters"):
        check_text("abcd", limits, "text")
    with pytest.raises(ApiError, match="3 characters"):
        check_regex("abc", limits, "regex")


def test_tokens_are_guessed() -> None:
    assert tokens("") == 1
    assert tokens("中文", "abcdef") == 3 + 3
