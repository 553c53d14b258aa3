from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.rules.folding import fold, half_width, simplified


def test_width_case_script_and_radicals_are_made_one() -> None:
    assert fold("ＴＥＬ：１３８　廣東⻄安－巿·•") == "tel:138 广东西安-市··"


@given(st.text(alphabet=st.characters(codec=None)))
def test_places_stay(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text(alphabet=st.characters(codec=None)))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_values_keep_all_but_the_width_of_letters_and_digits() -> None:
    assert half_width("Ａ座１２號，（東）－") == "A座12號，（東）－"


def test_simplifying_changes_traditional_characters_alone() -> None:
    assert simplified("廣東　ＴＥＬ Tel－") == "广东　ＴＥＬ Tel－"
