from __future__ import annotations

import random

import pytest

from copydesk.training.addresses.divisions import Divisions, Place, bare_name, rank_form, write_divisions


@pytest.mark.parametrize(
    ("name", "bare", "spoken"),
    [
        ("恭城瑶族自治县", "恭城", "恭城县"),
        ("凉山彝族自治州", "凉山", "凉山州"),
        ("梅里斯达斡尔族区", "梅里斯", "梅里斯区"),
        ("浦东新区", "浦东", "浦东区"),
        ("长沙市", "长沙", "长沙市"),
        ("东区", "东区", "东区"),
    ],
)
def test_short_forms(name: str, bare: str, spoken: str) -> None:
    assert bare_name(name) == bare
    assert rank_form(name) == spoken


def test_a_unique_district_implies_its_city_and_an_ambiguous_one_does_not(divisions: Divisions) -> None:
    assert divisions.implied("恭城") == ("广西壮族自治区", "桂林市")
    assert divisions.implied("朝阳区") == ("", "")
    assert divisions.implied("朝阳区", "吉林省") == ("吉林省", "长春市")


def test_labels_are_full_names_or_empty_and_never_guessed(divisions: Divisions) -> None:
    rng = random.Random(5)
    for _ in range(3000):
        place = divisions.draw(rng)
        written = write_divisions(place, divisions, rng)
        text = "".join(written.levels)
        assert written.city in ("", *divisions.cities)
        assert written.province in ("", *divisions.province_of.values())
        if text == "朝阳区":
            assert (written.province, written.city, written.district) == ("", "", "朝阳区")
        if written.city in ("东莞市", "儋州市", "嘉峪关市", "济源市") and not place.zone:
            assert written.district == ""


def test_full_style_writes_every_level(divisions: Divisions) -> None:
    place = Place("湖南省", "长沙市", "岳麓区")
    written = write_divisions(place, divisions, random.Random(1), "full")
    assert written.levels == ("湖南省", "长沙市", "岳麓区")
