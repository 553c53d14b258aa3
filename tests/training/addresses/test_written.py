from __future__ import annotations

import random

from copydesk.training.addresses.divisions import Divisions, Place
from copydesk.training.addresses.written import misspelt, write_divisions


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


def test_a_slip_changes_one_level_and_leaves_the_others(divisions: Divisions) -> None:
    rng = random.Random(2)
    for _ in range(200):
        slipped = misspelt(["湖南省", "长沙市", "岳麓区"], rng)
        assert sum(a != b for a, b in zip(slipped, ["湖南省", "长沙市", "岳麓区"], strict=True)) <= 1
