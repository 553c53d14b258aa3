from __future__ import annotations

from copydesk.drafting.rules import draft

FIELDS = ("province", "city", "district", "specific_location", "name", "phone")


def confidences(text: str) -> dict[str, float]:
    return {name: field.confidence for name, field in draft(text, FIELDS).fields.items()}


def test_a_tidy_line_is_sure_throughout() -> None:
    assert min(confidences("收件人：张伟，电话：13812345678，北京市海淀区学院路1号").values()) > 0.95


def test_what_is_said_plainly_is_surer_than_what_is_pieced_together() -> None:
    plain = confidences("收件人：张伟，电话：13812345678，北京市海淀区学院路1号")
    glued = confidences("13812345678北京海淀学院路1号张伟")
    assert glued["name"] < plain["name"]
    assert glued["district"] < plain["district"]


def test_a_name_that_cannot_be_found_beside_a_phone_is_unknown() -> None:
    assert confidences("北京市海淀区学院路1号 13812345678")["name"] == 0
    assert confidences("北京市海淀区学院路1号")["name"] > 0.9


def test_without_divisions_the_location_is_a_guess() -> None:
    assert confidences("学院路1号 张伟 13812345678")["specific_location"] == 0
