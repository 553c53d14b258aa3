from __future__ import annotations

import pytest

from copydesk.drafting.rules.numbers import Sort, find


@pytest.mark.parametrize(
    ("plain", "phone", "sort"),
    [
        ("张伟13812345678", "13812345678", Sort.MOBILE),
        ("86-13812345678", "86-13812345678", Sort.MOBILE),
        ("+86 13812345678", "+86 13812345678", Sort.MOBILE),
        ("(86)13812345678", "(86)13812345678", Sort.MOBILE),
        ("(13812345678)", "13812345678", Sort.MOBILE),
        ("+13812345678", "13812345678", Sort.MOBILE),
        ("138 1234 5678 ", "138 1234 5678", Sort.MOBILE),
        ("138-123-456-78", "138-123-456-78", Sort.MOBILE),
        ("13812345678转0912", "13812345678转0912", Sort.MOBILE),
        ("13812345678-2号楼", "13812345678", Sort.MOBILE),
        ("2-1-1302 13812345678", "13812345678", Sort.MOBILE),
        ("0451-71562147", "0451-71562147", Sort.LANDLINE),
        ("(010)12345678", "(010)12345678", Sort.LANDLINE),
        ("400-820-8820", "400-820-8820", Sort.LANDLINE),
        ("+852 9123 4567", "+852 9123 4567", Sort.LANDLINE),
        ("0912-345-678", "0912-345-678", Sort.LANDLINE),
        ("138****1234", "138****1234", Sort.MASKED),
        ("1234567****", "1234567****", Sort.MASKED),
        ("22236351311", "22236351311", Sort.ELEVEN),
        ("1381234567", "1381234567", Sort.ODD),
        ("8123456", "8123456", Sort.LOCAL),
    ],
)
def test_phones(plain: str, phone: str, sort: Sort) -> None:
    [number] = find(plain)
    assert (plain[number.start : number.end], number.sort) == (phone, sort)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("c-713285279840", [("13285279840", Sort.MOBILE)]),
        ("13852324203518000", [("13852324203", Sort.MOBILE), ("518000", Sort.POSTCODE)]),
        ("51800013852324203", [("518000", Sort.POSTCODE), ("13852324203", Sort.MOBILE)]),
        ("110101199003076413", [("110101199003076413", Sort.OTHER)]),
        ("sf1234567890123", [("sf1234567890123", Sort.OTHER)]),
        ("328001234567", [("328001234567", Sort.OTHER)]),
        ("518000", [("518000", Sort.POSTCODE)]),
        ("100001号", []),
        ("888弄8号808室", []),
    ],
)
def test_other_numbers(plain: str, expected: list[tuple[str, Sort]]) -> None:
    assert [(plain[number.start : number.end], number.sort) for number in find(plain)] == expected
