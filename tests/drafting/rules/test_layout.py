from __future__ import annotations

import pytest

from copydesk.drafting.rules.folding import fold
from copydesk.drafting.rules.layout import lay_out
from copydesk.drafting.rules.marks import Cut
from copydesk.drafting.rules.wordings import Kind


def test_gaps_know_what_they_border_on() -> None:
    plain = "收件人:张伟,13812345678 北京市海淀区学院路1号"
    described = [(plain[gap.start : gap.end], gap.before, gap.after) for gap in lay_out(plain).gaps]
    assert described == [
        ("张伟,", Kind.NAME, Cut.PHONE),
        (" ", Cut.PHONE, Cut.CHAIN),
        ("学院路1号", Cut.CHAIN, Cut.EDGE),
    ]


@pytest.mark.parametrize(
    ("plain", "meant"),
    [
        ("北海市重庆路11号", "北海市"),
        ("金华,浙江省金华市兰溪市丹溪路", "浙江省金华市兰溪市"),
        ("江苏省苏州市江苏省苏州市虎丘区狮山路", "江苏省苏州市虎丘区"),
        ("海南省三亚市天涯区 所在地区:海南省三亚市吉阳区", "海南省三亚市吉阳区"),
        ("合肥市望江路温州市商会大厦", "合肥市"),
    ],
)
def test_the_divisions_that_count(plain: str, meant: str) -> None:
    chain = lay_out(plain).chain
    assert chain is not None
    assert plain[chain.start : chain.end] == meant


@pytest.mark.parametrize("joint", ["\n", "；", "\n2. ", "；另一个：", "。"])
def test_a_second_recipient_is_left_out(joint: str) -> None:
    first = "张伟 13812345678 北京市海淀区学院路1号"
    plain = fold(f"{first}{joint}李丽 13912345678 上海市徐汇区漕溪路2号")
    assert lay_out(plain).plain == first


def test_one_recipient_in_several_lines_is_kept() -> None:
    plain = "北京市海淀区\n电话:13812345678\n备用电话:13912345678\n详细地址:北京市海淀区学院路1号"
    assert lay_out(plain).plain == plain


def test_pieces_are_runs_without_separators() -> None:
    def pieces(plain: str, end: int) -> list[str]:
        return [plain[left:right] for left, right in lay_out(plain).pieces(0, end)]

    assert pieces("张伟, 88-1号-甲 「甲」👤乙", 100) == ["张伟", "88-1号-甲", "甲", "乙"]
    # Where a hyphen stands beside the phone, hyphens separate.
    assert pieces("a座-3层-张伟-13812345678", 9) == ["a座-3层", "张伟"]


def test_talk_counts_outside_of_brackets() -> None:
    layout = lay_out("学院路1号(请放门卫) 谢谢")
    assert not layout.chatters(0, 10, 0)
    assert layout.chatters(11, 14, 0)


def test_glued_lines_and_texts_without_a_recipient_are_known() -> None:
    assert lay_out("张伟北京市海淀区学院路1号13812345678").glued
    assert not lay_out("张伟 北京市").glued
    assert lay_out("张伟 13812345678").has_recipient
    assert not lay_out("今天天气不错").has_recipient
