from __future__ import annotations

import pytest

from copydesk.drafting.rules import location, names
from copydesk.drafting.rules.layout import lay_out


def found(plain: str) -> tuple[str, str] | None:
    """The name and how it was found."""
    layout = lay_out(plain)
    name = names.find(layout, location.first_gap(layout))
    return (plain[name.start : name.end], name.how) if name is not None else None


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("收件人:张伟 北京市海淀区学院路1号", ("张伟", "label")),
        ("收件人:爱吃鱼的猫,电话:13812345678", ("爱吃鱼的猫", "label")),
        ("收件人写张伟就行,13812345678", ("张伟", "label")),
        ("我叫张伟,住在北京市", ("张伟", "label")),
        ("收件人欧阳静怡学院路1号院", ("欧阳静怡", "head")),
        ("张伟 13812345678 北京市海淀区学院路1号", ("张伟", "piece")),
        ("北京市海淀区学院路1号 金光苑,13812345678,张伟", ("张伟", "piece")),
        ("北京市海淀区学院路1号 张伟 13812345678", ("张伟", "piece")),
        ("北京市海淀区学院路1号 张伟(收) 13812345678", ("张伟", "piece")),
        ("张伟北京市海淀区学院路1号13812345678", ("张伟", "piece")),
        ("john smith 13812345678 北京市海淀区学院路1号", ("john smith", "piece")),
        ("韦 载 13812345678 北京市海淀区学院路1号", ("韦 载", "piece")),
        ("13812345678-北京市海淀区学院路1号-张伟", ("张伟", "piece")),
        ("张伟收,13812345678", ("张伟", "piece")),
        ("北京市海淀区学院路1号张伟13812345678", ("张伟", "tail")),
        ("13812345678北京市海淀区学院路1号张伟", ("张伟", "tail")),
        ("13812345678司马丽行东郊椰林风景区", ("司马丽行", "head")),
    ],
)
def test_names_in_many_places(plain: str, expected: tuple[str, str]) -> None:
    assert found(plain) == expected


@pytest.mark.parametrize(
    "plain",
    [
        "北京市海淀区学院路1号 金光苑 东区",
        "亲 什么时候发货呀 13812345678",
        "满199减30,仅限今天",
        "收件人:请问您在吗",
        "北京市海淀区学院路1号梅苑小区",
        "",
    ],
)
def test_texts_without_a_name(plain: str) -> None:
    assert found(plain) is None
