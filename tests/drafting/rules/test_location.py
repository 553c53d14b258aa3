from __future__ import annotations

import pytest

from copydesk.drafting.rules import draft


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("北京市海淀区学院路1号，张伟，13812345678", "学院路1号"),
        ("北京市海淀区学院路1号 金光苑3栋，张伟，13812345678", "学院路1号 金光苑3栋"),
        ("北京市海淀区学院路1号（南门） 谢谢", "学院路1号（南门）"),
        ("【北京市海淀区学院路1号】", "学院路1号"),
        ("北京市海淀区学院路「时代」楼", "学院路「时代」楼"),
        ("北京市海淀区学院路1号(请放门卫)，麻烦尽快", "学院路1号(请放门卫)"),
        ("海南省三亚市天涯区海南省三亚市天涯区凤凰镇", "凤凰镇"),
        ("江西省抚州市临川区 上顿渡镇江西省抚州市临川区上顿渡镇南街", "上顿渡镇南街"),
        ("湖北省宜昌市伍家岗区宜昌市中心人民医院", "宜昌市中心人民医院"),
        ("13812345678张伟重庆市忠县忠县乐天支路1号", "忠县乐天支路1号"),
        ("张伟 13812345678 重庆市忠县忠县乐天支路1号", "乐天支路1号"),
        ("所在地区：北京市海淀区青龙桥街道 详细地址：学院路1号", "青龙桥街道学院路1号"),
        ("地址：学院路1号，电话13812345678", "学院路1号"),
        ("13812345678 张伟 学院路1号", "学院路1号"),
        ("昨天买一送一 第2件半价", ""),
        ("地址改好了吗", ""),
    ],
)
def test_the_rest_of_an_address(text: str, location: str) -> None:
    assert draft(text, ("specific_location",)).values["specific_location"] == location


def test_several_runs_have_several_spans() -> None:
    text = "所在地区：北京市海淀区青龙桥街道 详细地址：学院路1号"
    spans = draft(text, ("specific_location",)).fields["specific_location"].spans
    assert [text[span.start : span.end] for span in spans] == ["青龙桥街道", "学院路1号"]


def test_no_location_is_endless() -> None:
    assert len(draft("北京市海淀区" + "学院路" * 1000, ("specific_location",)).values["specific_location"]) <= 120
