from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.drafting.rules import draft

FIELDS = ("province", "city", "district", "specific_location", "name", "phone")
LINES = {
    "收货人：夏知秋，电话：13800012345，浙江省宁波市鄞州区四明中路21号3幢602室": (
        "浙江省",
        "宁波市",
        "鄞州区",
        "四明中路21号3幢602室",
        "夏知秋",
        "13800012345",
    ),
    "18655501234江苏省徐州市云龙区民主南路8号顾一舟": (
        "江苏省",
        "徐州市",
        "云龙区",
        "民主南路8号",
        "顾一舟",
        "18655501234",
    ),
    "杨帆湖北省荆州市沙市区北京中路301号15927001234": (
        "湖北省",
        "荆州市",
        "沙市区",
        "北京中路301号",
        "杨帆",
        "15927001234",
    ),
    "四川阆中七里大道58号 何平 139 8000 1234": ("四川省", "南充市", "阆中市", "七里大道58号", "何平", "13980001234"),
    "廣東省東莞市虎門鎮連升路6號 陳先生 0769-85001234": (
        "广东省",
        "东莞市",
        "",
        "虎門鎮連升路6號",
        "陳先生",
        "0769-85001234",
    ),
    "河南省济源市济水大街１２号　郭　１３９０００１２３４５": (
        "河南省",
        "济源市",
        "",
        "济水大街12号",
        "郭",
        "13900012345",
    ),
    "西湖区文一路5号": ("", "", "西湖区", "文一路5号", "", ""),
    "成都市高新区天府三街19号": ("四川省", "成都市", "高新区", "天府三街19号", "", ""),
    "上海 上海市 浦东区 张杨路500号，蒋xx，13512345678-8012": (
        "上海市",
        "上海市",
        "浦东新区",
        "张杨路500号",
        "蒋xx",
        "13512345678-8012",
    ),
    "所在地区: 福建省漳州市龙海市石码镇\n详细地址: 紫崴路9号\n收件人: 蔡小满\n手机号码: 18059600123": (
        "福建省",
        "漳州市",
        "龙海市",
        "石码镇紫崴路9号",
        "蔡小满",
        "18059600123",
    ),
    "海南省三亚市海棠区海南省三亚市海棠区林旺镇南路3号": ("海南省", "三亚市", "海棠区", "林旺镇南路3号", "", ""),
    "你好，麻烦寄到山西省大同市平城区御河西路6号，姓名：尉迟安 电话是 13934001234，谢谢": (
        "山西省",
        "大同市",
        "平城区",
        "御河西路6号",
        "尉迟安",
        "13934001234",
    ),
    "订单号 202405060001 已签收，满199减30": ("", "", "", "", "", ""),
    "韩梅 13900000001 山东省泰安市岱岳区樱桃园路2号\n周冬 13900000002 山东省聊城市东昌府区柳园路7号": (
        "山东省",
        "泰安市",
        "岱岳区",
        "樱桃园路2号",
        "韩梅",
        "13900000001",
    ),
}


@pytest.mark.parametrize(("text", "expected"), LINES.items())
def test_lines_of_many_kinds(text: str, expected: tuple[str, ...]) -> None:
    assert tuple(draft(text, FIELDS).values.values()) == expected


def test_fields_are_answered_in_their_order_and_others_are_empty() -> None:
    answer = draft("湖南省长沙市岳麓区麓山路2号", ("district", "colour", "province"))
    assert list(answer.values.items()) == [("district", "岳麓区"), ("colour", ""), ("province", "湖南省")]
    assert answer.fields["colour"].confidence == 0


KNOWN = [
    *(
        "广东省",
        "深圳市",
        "朝阳区",
        "朝阳",
        "北京",
        "九龙",
        "高新区",
        "恭城",
        "省直辖县级行政区划",
        "街道",
        "文三路9号",
    ),
    *("收件人", "电话", "地址", "所在地区", "备注", "邮编", "订单号", "给", "收", "：", ":", "，", ";", "（", "）"),
    *("张伟", "欧阳娜", "阿里·木", "Lily", "13812345678", "021-8067285", "138****1234", "518000", "110101199003076413"),
    *(" ", "-", "--", "·", "\n", "👤", "😀", "谢谢", "⻄", "廣", "１３"),
]


def fragments() -> st.SearchStrategy[str]:
    """Texts made of what the rules look for, and of anything at all."""
    return st.lists(st.sampled_from(KNOWN) | st.text(max_size=4), max_size=14).map("".join)


def folded(text: str) -> str:
    """Without spaces, in one width: what a value may differ in from its source, besides hyphens."""
    return "".join(unicodedata.normalize("NFKC", text).split()).replace("－", "-")


@given(fragments() | st.text())
def test_any_text_is_answered_and_spans_point_at_what_they_say(text: str) -> None:
    answer = draft(text, FIELDS)
    for name, value in answer.values.items():
        field = answer.fields[name]
        assert 0 <= field.confidence <= 1
        written = "".join(text[span.start : span.end] for span in field.spans)
        assert all(0 <= span.start < span.end <= len(text) for span in field.spans)
        assert [span.start for span in field.spans] == sorted(span.start for span in field.spans)
        if field.match == "exact":
            assert written == value
        elif field.match == "inferred":
            assert not field.spans
        if name in ("specific_location", "name", "phone"):
            assert folded(value) == folded(written)
            assert bool(value) == bool(field.spans)


@given(fragments())
def test_the_same_text_has_the_same_answer(text: str) -> None:
    assert draft(text, FIELDS) == draft(text, FIELDS)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=30))
def test_halves_of_characters_are_answered_too(text: str) -> None:
    assert set(draft(text, FIELDS).values) == set(FIELDS)


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "中",
        "北京市",
        "朝阳",
        "电话",
        "(",
        "谢谢(",
        "， ",
        "1-",
        "收件人：张伟 电话：13812345678 ",
        "广东省深圳市南山区科技园1号 张伟 13812345678\n",
        "👤",
    ],
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        best = float("inf")
        for _ in range(2):
            start = time.process_time()
            draft(text, FIELDS)
            best = min(best, time.process_time() - start)
        return best

    draft("", FIELDS)
    # Twenty times as much text: growth with the square would be a factor of 400.
    assert seconds(100_000) < 80 * max(seconds(5_000), 0.001)
