from __future__ import annotations

import pytest

from copydesk.drafting.rules.layout import lay_out
from copydesk.drafting.rules.numbers import Sort


def gaps(plain: str) -> list[str]:
    return [plain[gap.start : gap.end] for gap in lay_out(plain).gaps]


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("北京市西单路3号100043", ["西单路3号"]),
        ("北京市西单路3号100043张伟13812345678", ["西单路3号", "张伟"]),
        ("北京市西单路3号(100043)", ["西单路3号(", ")"]),
        ("北京市创意大厦b351207", ["创意大厦b351207"]),
        ("北京市西单路3号 邮编:100043", ["西单路3号 "]),
        ("订单号:jd12345678,张伟", [",张伟"]),
        ("备注:轻放 北京市西单路3号", [" ", "西单路3号"]),
        ("收货信息:张伟,北京市", ["张伟,"]),
    ],
)
def test_what_is_neither_name_nor_location_is_cut_out(plain: str, expected: list[str]) -> None:
    assert gaps(plain) == expected


def test_a_label_says_what_a_number_is() -> None:
    def sorts(plain: str) -> list[Sort]:
        return [number.sort for number in lay_out(plain).numbers]

    assert sorts("订单号:13812345678") == [Sort.OTHER]
    assert sorts("电话:518000") == [Sort.LOCAL]
    assert sorts("电话:12345") == [Sort.LOCAL]
    assert sorts("12345") == []


def test_divisions_before_those_that_count_are_cut_out() -> None:
    assert gaps("海南省三亚市天涯区收货人潘林,所在地区海南省三亚市吉阳区南路") == ["潘林,", "南路"]
