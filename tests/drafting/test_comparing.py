"""Texts as they are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.comparing import compared


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Ｌｉｌｙ　Ｗ", "lily w"),
        ("臺灣省 台北", "台湾省台北"),
        ("㎏", "KG"),
        ("a\u200bb", "A\tB"),
        ("Straße", "STRASSE"),
    ],
)
def test_width_case_script_and_spaces_make_no_difference(text: str, same: str) -> None:
    assert compared(text).text == compared(same).text


@given(st.text(max_size=40))
def test_every_character_knows_where_it_came_from(text: str) -> None:
    reading = compared(text)
    assert len(reading.origins) == len(reading.text)
    for character, origin in zip(reading.text, reading.origins, strict=True):
        assert character in compared(text[origin]).text


@given(st.text(st.characters(max_codepoint=0x7F), max_size=40))
def test_plain_text_is_compared_as_any_other(text: str) -> None:
    assert compared(text).text == compared(text + "天").text[:-1]
    assert list(compared(text).origins) == list(compared(text + "天").origins)[:-1]
