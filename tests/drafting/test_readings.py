"""Finding in a text what an answer copies from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.readings import Readings
from copydesk.types import Span


@pytest.mark.parametrize(
    ("text", "wanted", "near", "span"),
    [
        ("ab cd ab", "ab", 0, Span(0, 2)),
        ("ab cd ab", "ab", 2, Span(6, 8)),
        ("ab cd ab", "ab", 8, Span(6, 8)),
        ("tabs ab", "ab", 0, Span(5, 7)),
        ("1234 23", "23", 0, Span(5, 7)),
        ("电话：１３８ 1234", "1381234", 0, Span(3, 11)),
        ("a\nb", "a b", 0, Span(0, 3)),
        ("北 京", "北京", 0, Span(0, 3)),
    ],
)
def test_places(text: str, wanted: str, near: int, span: Span) -> None:
    place = Readings(text).find(wanted, near)
    assert place is not None
    assert place.span == span


@pytest.mark.parametrize("wanted", ["", "x", "abc"])
def test_what_stands_nowhere(wanted: str) -> None:
    assert Readings("ab").find(wanted, 0) is None


@given(st.text(max_size=40), st.integers(0, 40), st.integers(1, 10), st.integers(-5, 50))
def test_what_is_cut_from_a_text_is_found_in_it(text: str, start: int, length: int, near: int) -> None:
    wanted = text[start : start + length]
    place = Readings(text).find(wanted, near)
    if wanted:
        assert place is not None
        assert text[place.span.start : place.span.end] == wanted
