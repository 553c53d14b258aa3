"""A text as units with features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.tagger.features import ALWAYS, BITS, FEATURES, PAIR, WORD, units_of


def pieces(text: str) -> list[str]:
    units = units_of(text)
    return [text[start:end] for start, end in zip(units.starts, units.ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("ab cd12, e", ["ab", "cd", "12", ",", "e"]),
        ("江雨桐021-17", ["江", "雨", "桐", "021", "-", "17"]),
        ("a\n\nb", ["a", "b"]),
        ("..", [".", "."]),
        ("ＡＢ１２", ["ＡＢ", "１２"]),
        ("é́x", ["é́x"]),
        ("𠮷野", ["𠮷", "野"]),
        (" ", []),
        ("", []),
    ],
)
def test_units(text: str, units: list[str]) -> None:
    assert pieces(text) == units


@given(st.text(max_size=60))
def test_units_are_all_of_a_text_but_its_spaces(text: str) -> None:
    units = units_of(text)
    assert "".join(pieces(text)) == "".join(character for character in text if not character.isspace())
    assert units.features.shape == (FEATURES, len(units.starts))
    assert (units.features < 1 << BITS).all()
    assert (units_of(text).features == units.features).all()


def test_words_are_the_same_in_either_case_and_width_and_wherever_they_stand() -> None:
    features = units_of("Rome, then rome ＲＯＭＥ or room").features
    words = features[WORD][[0, 3, 4, 6]]
    assert words[0] == words[1] == words[2] != words[3]


def test_a_feature_joins_what_it_says() -> None:
    first, second = units_of("to Rome now and then"), units_of("in Rome now or never")
    assert first.features[WORD][1] == second.features[WORD][1]
    assert first.features[PAIR][1] == second.features[PAIR][1]
    assert first.features[PAIR][0] != second.features[PAIR][0]
    assert len(np.unique(first.features[ALWAYS])) == 1


def test_features_differ_from_each_other() -> None:
    features = units_of("Name: Ann Lee, 12 Main Road\nTotal 9.00").features
    assert len(np.unique(features)) > 0.7 * features.size


EXPECTED = [[3756262455, 1953108918], [3504718733, 3029521004], [793720677, 793720677]]


def test_features_are_the_same_on_every_machine_and_in_every_version() -> None:
    features = units_of("上海市 Main 12").features
    assert features[[WORD, PAIR, ALWAYS], :2].tolist() == EXPECTED, "raise VERSION, or what was learned is worthless"
