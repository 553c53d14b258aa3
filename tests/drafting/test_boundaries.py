"""Where values are likely to begin and to end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.boundaries import likely_end, next_start


@pytest.mark.parametrize(
    ("text", "start", "found"),
    [
        ("张三，北京", 2, "北京"),
        ("姓名：张三", 0, "张三"),
        ("Name: Ann", 0, "Ann"),
        ("a; Phone No: 12", 1, "12"),
        ("a ;;", 1, ""),
        ("a", 1, ""),
    ],
)
def test_a_value_begins_after_separators_and_labels(text: str, start: int, found: str) -> None:
    assert text[next_start(text, start) :] == found


@pytest.mark.parametrize(
    ("text", "written", "found"),
    [
        ("张三，北京", 1, "张三"),
        ("021-1761 北京", 2, "021-1761"),
        ("9.00\nCASH", 0, "9.00"),
        ("25/12/2018, x", 1, "25/12/2018"),
        ("北京路7号13812345678", 2, "北京路7号"),
        ("Ann Lee, Rome", 1, "Ann Lee"),
        ("we want to eat out tonight", 1, "we"),
        ("we want to eat out tonight", 4, "we want to eat"),
        ("12 Main St, Rome, Italy; x", 12, "12 Main St, Rome, Italy"),
        ("SUN CAFE AND FINE FOOD\n12 Road", 3, "SUN CAFE AND FINE FOOD"),
    ],
)
def test_a_value_ends(text: str, written: int, found: str) -> None:
    assert text[: likely_end(text, 0, written)] == found


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_ends_lie_in_the_text_and_not_before_what_is_written(text: str, start: int, written: int) -> None:
    start = min(start, len(text))
    written = min(written, len(text) - start)
    assert start <= next_start(text, start) <= len(text)
    assert start + written <= likely_end(text, start, written) <= len(text)
