"""JSON strings, whole and begun."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.strings import begun_content, content, continued, quoted


@given(st.text())
def test_quoting_is_undone_by_reading(text: str) -> None:
    assert content(quoted(text)) == text


@pytest.mark.parametrize("text", ["", '"', "1", "null", '"a', '"a"b"', '"\\x"'])
def test_what_is_no_whole_string_has_no_content(text: str) -> None:
    assert content(text) is None


@pytest.mark.parametrize(
    ("begun", "text"),
    [
        ("", ""),
        ('"', ""),
        ('"a市', "a市"),
        ('"a\\n', "a\n"),
        ('"a\\', None),
        ('"a\\u00', None),
        ('"a"', None),
        ("1", None),
    ],
)
def test_begun(begun: str, text: str | None) -> None:
    assert begun_content(begun) == text


@given(st.text(st.characters(exclude_categories=("Cs",))), st.text(st.characters(exclude_categories=("Cs",))))
def test_going_on_from_a_beginning(first: str, rest: str) -> None:
    begun = quoted(first)[:-1]
    assert begun_content(begun) == first
    assert continued(begun, rest).startswith(begun)
    assert json.loads(continued(begun, rest)) == first + rest
    assert continued("", rest) == quoted(rest)
