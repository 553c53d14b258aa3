"""Where values stand in their source."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.spans import locate
from copydesk.types import Match, Span

TEXT = "天津市河西区 Pearl Ｒoad 21号, 慕容 修远, 022-1234, 21, 臺東縣"


def standing(text: str, *values: Any) -> list[list[str]]:
    """What stands at the spans of each value."""
    return [[text[span.start : span.end] for span in spans] for spans, _ in locate(text, values)]


def starts(text: str, *values: Any) -> list[list[int]]:
    return [[span.start for span in spans] for spans, _ in locate(text, values)]


@pytest.mark.parametrize(
    ("value", "there", "match"),
    [
        ("天津市", "天津市", "exact"),
        ("慕容修远", "慕容 修远", "normalized"),
        ("pearl road", "Pearl Ｒoad", "normalized"),
        ("台东县", "臺東縣", "normalized"),
        (21, "21", "exact"),
        ("022-1234", "022-1234", "exact"),
        (22, None, "inferred"),
        ("上海市", None, "inferred"),
        ("", None, "inferred"),
        (True, None, "inferred"),
        (None, None, "inferred"),
        ([], None, "inferred"),
        ("　", None, "inferred"),
    ],
)
def test_where_a_value_stands(value: Any, there: str | None, match: Match) -> None:
    ((spans, matched),) = locate(TEXT, [value])
    assert matched == match
    assert [TEXT[span.start : span.end] for span in spans] == ([] if there is None else [there])


def test_a_value_of_several_runs_has_several_spans() -> None:
    text = "地区：广东省深圳市龙岗街道\n地址：格水村三巷 10号"
    assert standing(text, "龙岗街道格水村三巷 10号") == [["龙岗街道", "格水村三巷 10号"]]
    assert locate(text, ["龙岗街道格水村三巷 10号"])[0][1] == "exact"
    assert locate(text, ["龙岗街道格水村三巷10号"])[0][1] == "normalized"
    assert locate(text, ["深广"]) == [((), "inferred")]
    assert locate(text, ["格水村龙岗街道"]) == [((), "inferred")]


def test_two_fields_of_the_same_value_are_found_at_two_places_side_by_side() -> None:
    assert starts("北京市，北京市朝阳区", "北京市", "北京市", "朝阳区") == [[0], [4], [7]]
    assert starts("北京市朝阳区光华路9号院3号楼，北京市民卡", "北京市", "北京市", "朝阳区") == [[0], [0], [3]]


def test_a_division_is_meant_where_the_others_stand() -> None:
    text = "赤坎区快递点收 广东省湛江市赤坎区寸金路 王五"
    assert starts(text, "广东省", "湛江市", "赤坎区", "寸金路") == [[8], [11], [14], [17]]
    assert starts("天津市和平区南京路天津市医院", "天津市", "和平区") == [[0], [3]]


def test_a_name_is_meant_beside_the_phone_and_not_within_the_address() -> None:
    assert starts("张三路5号 张三 13812345678", "张三路5号", "张三", "13812345678") == [[0], [6], [9]]
    assert starts("李四寄，李四收13812345678", "李四", "13812345678") == [[4], [7]]


def test_a_whole_word_is_meant_rather_than_a_part_of_one() -> None:
    assert starts("Annapolis, Anna", "Anna") == [[11]]


def test_a_number_within_a_longer_one_is_another_number() -> None:
    assert locate("room 1210, age 21", [21])[0][0] == (Span(15, 17),)


def test_a_character_that_folds_to_several_keeps_its_place() -> None:
    assert locate("㎏ 单位", ["kg单位"]) == [((Span(0, 4),), "normalized")]


@given(st.text(min_size=1, max_size=30), st.data())
def test_every_run_of_the_text_is_found_exactly(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    ((spans, match),) = locate(text, [text[start:end]])
    assert match == "exact"
    assert [text[span.start : span.end] for span in spans] == [text[start:end]]


@given(st.text(st.sampled_from("ab 天津"), max_size=20), st.lists(st.text(st.sampled_from("ab 天津"), max_size=6)))
def test_spans_stand_in_the_text_in_order(text: str, values: list[str]) -> None:
    for spans, match in locate(text, values):
        assert bool(spans) == (match != "inferred")
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        assert all(one.end <= other.start for one, other in pairwise(spans))
