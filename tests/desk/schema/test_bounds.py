"""Bounds that come from the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.schema.bounds import Bounds


@given(st.integers(0, 100_000))
def test_the_whole_text_fits_into_a_string_and_not_much_more(length: int) -> None:
    bounds = Bounds.of("x" * length)
    assert length <= bounds.characters <= max(128, 2 * length)
    assert bounds.items == bounds.characters // 2


def test_texts_of_about_one_length_share_their_bounds() -> None:
    assert Bounds.of("x" * 300) == Bounds.of("x" * 500)
