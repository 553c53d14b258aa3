from __future__ import annotations

import pytest

from copydesk.drafting.rules.people import end_score, head_name, is_sentence, is_surname, name_score, tail_name


@pytest.mark.parametrize(
    "name",
    [
        "张伟",
        "夏知秋",
        "欧阳静怡",
        "其木格",
        "阿依古丽·买买提",
        "陆小姐",
        "程xx",
        "老屈",
        "小雨",
        "王总",
        "tony老师",
        "lily",
        "韦",
        "载",
    ],
)
def test_names_look_like_names(name: str) -> None:
    assert name_score(name) > 0


def test_a_surname_and_a_given_name_may_stand_apart() -> None:
    assert name_score("韦 载") == name_score("韦载")


@pytest.mark.parametrize(
    "text", ["科技园", "人民路", "尚峰花园", "小区", "请问什么时候到", "我的", "3号楼", "先生", ""]
)
def test_other_things_do_not(text: str) -> None:
    assert name_score(text) < 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("人民路8号楼黄娜", "黄娜"),
        ("清水河村何新民", "何新民"),
        ("东风路口上官可知", "上官可知"),
        ("团结新村5组阿依古丽·买买提", "阿依古丽·买买提"),
        ("公安局对面陆小姐", "陆小姐"),
        ("解放路往北10米路东", ""),
        ("梅苑小区", ""),
    ],
)
def test_a_name_glued_to_the_end(text: str, name: str) -> None:
    length = tail_name(text, 0)
    assert text[len(text) - length :] == name


def test_a_name_glued_to_the_beginning() -> None:
    assert head_name("司马丽行东郊风景区", 40) == 4
    assert head_name("东郊风景区", 40) == 0


def test_parts_of_names() -> None:
    assert is_surname("张")
    assert is_surname("欧阳")
    assert not is_surname("路")
    assert end_score("室") > 0 > end_score("国")
    assert is_sentence("我叫")
    assert not is_sentence("谢东")
