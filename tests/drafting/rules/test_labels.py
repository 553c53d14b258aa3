from __future__ import annotations

import pytest

from copydesk.drafting.rules.layout import lay_out
from copydesk.drafting.rules.wordings import Kind


def found(plain: str) -> list[tuple[str, Kind]]:
    """The values' beginnings behind the labels of a folded text, with the labels' kinds."""
    return [(plain[end : end + 2], kind) for end, kind in lay_out(plain).labels.items()]


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("收件人:张伟", [("张伟", Kind.NAME)]),
        ("收货人是张伟", [("张伟", Kind.NAME)]),
        ("「收货人」张伟", [("张伟", Kind.NAME)]),
        ("【姓名】张伟", [("张伟", Kind.NAME)]),
        ("姓名👉张伟", [("张伟", Kind.NAME)]),
        ("收件人1:张伟", [("张伟", Kind.NAME)]),
        ("给张伟,", [("张伟", Kind.NAME)]),
        ("收件人 电话:138", [("13", Kind.PHONE)]),
        ("contact:13812345678", [("13", Kind.PHONE)]),
        ("contact:张伟", [("张伟", Kind.NAME)]),
        ("contact person:张伟", [("张伟", Kind.NAME)]),
        ("no.sf1234567890123", [("sf", Kind.NUMBER)]),
        ("寄到北京市", [("北京", Kind.ADDRESS)]),
    ],
)
def test_labels_before_their_values(plain: str, expected: list[tuple[str, Kind]]) -> None:
    assert found(plain) == expected


@pytest.mark.parametrize(
    "plain", ["大楼收件室", "青山手机城", "九龙街道)", "hotel", "张伟(收)", "三号楼", "中山路电话局旁", "大院人民路"]
)
def test_words_that_are_part_of_others(plain: str) -> None:
    assert found(plain) == []


def test_the_lines_of_a_form_may_do_without_colons() -> None:
    assert found("所在地区 北京市\n详细和平里1号") == [("北京", Kind.REGION), ("和平", Kind.DETAIL)]
