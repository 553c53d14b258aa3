from __future__ import annotations

import pytest

from copydesk.drafting.rules.surroundings import FILLER, INSTITUTION, THING, ZONE


@pytest.mark.parametrize("after", ["路3号", "中路", "大厦", "人民医院", "第一中学", "新区", "湖南路", "大学"])
def test_what_makes_a_name_that_of_something_else(after: str) -> None:
    assert THING.match(after)


@pytest.mark.parametrize("after", ["建国门外", "湖滨东", "大学城外环", "柳市镇", "3号"])
def test_what_does_not(after: str) -> None:
    assert not THING.match(after)


@pytest.mark.parametrize("zone", ["高新区", "经济技术开发区", "湘江新区", "高新西区"])
def test_zones(zone: str) -> None:
    match = ZONE.match(zone + "百叶街")
    assert match is not None
    assert match[0] == zone


@pytest.mark.parametrize("text", ["南路高新区", "望江镇开发区", "新区路3号"])
def test_streets_are_no_zones(text: str) -> None:
    assert not ZONE.match(text)


def test_fillers_and_institutions() -> None:
    assert FILLER.fullmatch("省直辖县级行政区划")
    assert FILLER.fullmatch("区/县:")
    assert INSTITUTION.match("中心人民医院心内科")
    assert not INSTITUTION.match("民主路人民医院")
