"""Where values were copied from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.strings import quoted
from copydesk.drafting.tagger.alignment import EDITS, STEM, Aligner
from copydesk.drafting.tagger.features import units_of


@pytest.mark.parametrize(
    ("text", "value", "runs", "edit"),
    [
        ("to Ann and Ann", '"Ann"', ["Ann", "Ann"], "as written"),
        ("tAnn", '"Ann"', [], None),
        ("1 SUN RD,\nROME", '"1 SUN RD, ROME"', ["1 SUN RD,\nROME"], "one space"),
        ("電話１３８ 12", '"13812"', ["１３８ 12"], "no space"),
        ("call 138-12", '"13812"', ["138-12"], "digits"),
        ("in rome", '"Rome"', ["rome"], "title case"),
        ("长沙岳麓", '"长沙市"', ["长沙"], STEM),
        ("长沙岳麓", '"北京市"', [], None),
        ("RM 1,234.50", "1234.50", ["1,234.50"], "number"),
        ("RM 9.00", "9", ["9.00"], "short number"),
        ("9 cups", "9.0", ["9"], "decimal"),
        ("9 cups", "true", [], None),
        ("9 cups", '""', [], None),
        ("x", '" "', [], None),
    ],
)
def test_copies(text: str, value: str, runs: list[str], edit: str | None) -> None:
    units = units_of(text)
    copies = Aligner(text, units).copies(value)
    assert [text[units.starts[copy.first] : units.ends[copy.last]] for copy in copies] == runs
    assert {copy.edit for copy in copies} == ({edit} if edit else set())


@given(st.text(max_size=40), st.text(max_size=8) | st.integers().map(str))
def test_an_edit_writes_the_value(text: str, value: str) -> None:
    units = units_of(text)
    for wanted in (quoted(value), value):
        for copy in Aligner(text, units).copies(wanted):
            run = text[units.starts[copy.first] : units.ends[copy.last]]
            if copy.edit == STEM:
                assert wanted.startswith(quoted(run)[:-1])
            else:
                assert EDITS[copy.edit](run) == wanted
