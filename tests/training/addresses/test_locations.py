from __future__ import annotations

import random

from copydesk.training.addresses.divisions import Place
from copydesk.training.addresses.locations import draw_location, spaced_number
from copydesk.training.addresses.material import Material


def test_numbers_get_spaces_around_them() -> None:
    assert spaced_number("长兴街235号", random.Random(0)) == "长兴街 235 号"


def test_locations_are_trimmed_and_not_empty(material: Material) -> None:
    rng = random.Random(0)
    place = Place("湖南省", "长沙市", "岳麓区", ("桔子洲街道",))
    drawn = [draw_location(place, material, rng) for _ in range(2000)]
    assert all(location and location == location.strip() for location in drawn)
    assert any(location.startswith("桔子洲街道") for location in drawn)


def test_plain_locations_hold_no_notes(material: Material) -> None:
    rng = random.Random(1)
    place = Place("湖南省", "长沙市", "岳麓区")
    assert not any("快递" in draw_location(place, material, rng, "plain") for _ in range(1000))
