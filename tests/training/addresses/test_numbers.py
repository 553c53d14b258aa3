from __future__ import annotations

import random
import re

from copydesk.training.addresses.material import Material
from copydesk.training.addresses.numbers import draw_phone, identity_number, order_number


def test_a_kept_phone_is_the_written_one_without_spaces(material: Material) -> None:
    rng = random.Random(0)
    for _ in range(2000):
        written, kept = draw_phone(material, rng)
        assert kept == re.sub(r"\s", "", written)


def test_waybill_phones_are_plain_mobiles(material: Material) -> None:
    rng = random.Random(1)
    assert all(re.fullmatch(r"1\d{10}", draw_phone(material, rng, "waybill")[0]) for _ in range(200))


def test_other_numbers_do_not_look_like_phones() -> None:
    rng = random.Random(2)
    assert all(len(identity_number(rng)) == 18 for _ in range(200))
    assert all(len(order_number(rng)) >= 10 for _ in range(200))
