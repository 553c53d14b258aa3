from __future__ import annotations

import random

from copydesk.training.addresses import layouts


def test_every_layout_holds_every_part_unchanged() -> None:
    rng = random.Random(3)
    address, name, phone = "湖南省长沙市东街8号", "卢瑶梅", "18529417028"
    for _ in range(500):
        for text in (
            layouts.waybill(address, name, phone, rng),
            layouts.tutorial(address, name, phone, rng),
            layouts.loose(address, name, phone, ["410000"], rng),
            layouts.form("湖南省长沙市", "东街8号", name, phone, rng),
        ):
            assert name in text
            assert phone in text
            assert "东街8号" in text


def test_full_width_changes_letters_and_digits_only() -> None:
    assert layouts.full_width("B座12-3号") == "Ｂ座１２-３号"
