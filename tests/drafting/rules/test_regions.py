from __future__ import annotations

import pytest

from copydesk.drafting.rules.layout import lay_out
from copydesk.drafting.rules.regions import Region, region
from copydesk.types import Span


def of(plain: str) -> Region:
    chain = lay_out(plain).chain
    assert chain is not None
    return region(chain, plain)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("长沙市", ("湖南省", "长沙市", "")),
        ("朝阳区", ("", "", "朝阳区")),
        ("丹阳市", ("江苏省", "镇江市", "丹阳市")),
        ("上海", ("上海市", "上海市", "")),
        ("仙桃市", ("湖北省", "仙桃市", "")),
        ("大港区", ("天津市", "天津市", "大港区")),
        ("柳州地区忻城县", ("广西壮族自治区", "来宾市", "忻城县")),
        ("浦东区", ("上海市", "上海市", "浦东新区")),
        ("邵阳", ("湖南省", "邵阳市", "")),
        ("吉林", ("吉林省", "", "")),
        ("赣州市赣县", ("江西省", "赣州市", "赣县")),
        ("内蒙古省", ("内蒙古自治区", "", "")),
        ("成都市高新区", ("四川省", "成都市", "高新区")),
    ],
)
def test_names_are_completed_where_only_one_is_possible(plain: str, expected: tuple[str, str, str]) -> None:
    found = of(plain)
    assert (found.province, found.city, found.district) == expected


def test_spans_are_those_of_what_is_written() -> None:
    assert of("广西桂林恭城县").spans == (Span(0, 2), Span(2, 4), Span(4, 7))
    assert of("长沙市").spans == (None, Span(0, 3), None)
    assert of("上海市").spans == (Span(0, 3), Span(0, 3), None)
