from __future__ import annotations

import pytest

from copydesk.drafting.rules.chains import Chain, Reader
from copydesk.drafting.rules.lexicon import lexicon


def chains(plain: str) -> list[Chain]:
    edges = {0} | {place + 1 for place, character in enumerate(plain) if character in " ,"}
    return Reader(plain, lexicon().find(plain), edges, set()).chains()


def forms(plain: str) -> list[str]:
    """The forms of the first chain, and its zone."""
    [chain, *_] = chains(plain)
    zone = [plain[chain.zone.start : chain.zone.end]] if chain.zone else []
    return [element.form.text for element in chain.elements] + zone


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("广东省深圳市南山区科技园", ["广东省", "深圳市", "南山区"]),
        ("广西南宁良庆区", ["广西", "南宁", "良庆区"]),
        ("北京 北京市 顺义区", ["北京", "北京市", "顺义区"]),
        ("北京市市辖区朝阳区", ["北京市", "朝阳区"]),
        ("重庆市县城口县", ["重庆市", "城口县"]),
        ("福州市市台江区", ["福州市", "台江区"]),
        ("省:广东省 市:深圳市 区:南山区", ["广东省", "深圳市", "南山区"]),
        ("河南省省直辖县级行政区划济源市", ["河南省", "济源市"]),
        ("浙江省 织里镇 吴兴区织里镇织纺路", ["浙江省", "吴兴区"]),
        ("香港特别行政区九龙九龙城区", ["香港特别行政区", "九龙城区"]),
        ("浙江省温州市乐清柳市镇", ["浙江省", "温州市", "乐清"]),
        ("北京朝阳建国路", ["北京", "朝阳"]),
        ("成都市高新西区百叶路", ["成都市", "高新西区"]),
        ("武汉市东湖高新区光谷", ["武汉市", "东湖高新区"]),
        ("长沙市开福寺路", ["长沙市"]),
        ("杭州西湖文化广场", ["杭州"]),
        ("东莞市松山湖高新区", ["东莞市"]),
        ("西安交通大学", ["西安"]),
    ],
)
def test_forms_that_agree_make_a_chain(plain: str, expected: list[str]) -> None:
    assert forms(plain) == expected


@pytest.mark.parametrize("plain", ["南京路", "朝阳", "他住北京路", "金华雪", "宜宾南区2-2"])
def test_names_of_other_things_make_none(plain: str) -> None:
    assert chains(plain) == []


def test_a_chain_may_mean_several_places() -> None:
    [chain] = chains("西湖区")
    assert {place.city for place in chain.places} == {"杭州市", "南昌市"}


def test_parts_that_contradict_make_two() -> None:
    assert [element.form.text for chain in chains("广东省海淀区") for element in chain.elements] == ["广东省", "海淀区"]
    assert len(chains("广东省海淀区")) == 2
