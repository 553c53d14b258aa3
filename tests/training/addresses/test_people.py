from __future__ import annotations

import random

from copydesk.training.addresses.material import Material
from copydesk.training.addresses.people import draw_name


def test_names_are_never_empty_and_of_many_kinds(material: Material) -> None:
    rng = random.Random(0)
    names = [draw_name("湖南省", material, rng) for _ in range(4000)]
    assert all(name.strip() == name and name for name in names)
    assert any(name.isascii() for name in names)
    assert any(name.endswith("先生") for name in names)
    assert any(name.startswith("欧阳") for name in names)
    assert any("·" in name for name in names)


def test_plain_names_hold_no_latin_letters(material: Material) -> None:
    rng = random.Random(1)
    assert not any(
        any(c.isascii() and c.isalpha() for c in draw_name("湖南省", material, rng, "plain")) for _ in range(800)
    )
