from __future__ import annotations

import pytest

from copydesk.drafting.rules import phones
from copydesk.drafting.rules.layout import lay_out


@pytest.mark.parametrize(
    ("plain", "phone"),
    [
        ("张伟13812345678,13912345678", "13812345678"),
        ("备用电话:13912345678,手机:13812345678", "13812345678"),
        ("13812345678,备用电话:13912345678", "13812345678"),
        ("订单号13912345678,13812345678", "13812345678"),
        ("张伟 8123456", "8123456"),
        ("1381234567,电话:8123456", "8123456"),
        ("备用电话:13912345678", "13912345678"),
    ],
)
def test_the_phone_that_is_meant(plain: str, phone: str) -> None:
    number = phones.find(lay_out(plain))
    assert number is not None
    assert plain[number.start : number.end] == phone


@pytest.mark.parametrize("plain", ["邮编518000", "sf1234567890123", "学院路1号a8123456座", "888弄8号808室", ""])
def test_texts_without_a_phone(plain: str) -> None:
    assert phones.find(lay_out(plain)) is None
