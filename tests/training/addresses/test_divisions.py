from __future__ import annotations

import pytest

from copydesk.training.addresses.divisions import Divisions, bare_name, rank_form


@pytest.mark.parametrize(
    ("name", "bare", "spoken"),
    [
        ("恭城瑶族自治县", "恭城", "恭城县"),
        ("凉山彝族自治州", "凉山", "凉山州"),
        ("梅里斯达斡尔族区", "梅里斯", "梅里斯区"),
        ("浦东新区", "浦东", "浦东区"),
        ("长沙市", "长沙", "长沙市"),
        ("东区", "东区", "东区"),
    ],
)
def test_short_forms(name: str, bare: str, spoken: str) -> None:
    assert bare_name(name) == bare
    assert rank_form(name) == spoken


def test_a_unique_district_implies_its_city_and_an_ambiguous_one_does_not(divisions: Divisions) -> None:
    assert divisions.implied("恭城") == ("广西壮族自治区", "桂林市")
    assert divisions.implied("朝阳区") == ("", "")
    assert divisions.implied("朝阳区", "吉林省") == ("吉林省", "长春市")
