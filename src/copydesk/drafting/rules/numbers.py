"""Numbers in a folded text: phones of all forms, and those that are none (postcodes, order and identity numbers).

Where phone and neighbouring digits are glued, it says where the phone begins. Knows no labels: how good a phone is, is
weighed with them elsewhere.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from copydesk.drafting.rules.folding import HAN


class Sort(IntEnum):
    """What a number is; phones from the most certain to the least."""

    MOBILE = 0
    LANDLINE = 1
    MASKED = 2
    ELEVEN = 3
    """Eleven digits that no operator has given out, as in invented data."""
    ODD = 4
    """One digit too few or too many for a mobile."""
    LOCAL = 5
    """Seven or eight digits."""
    POSTCODE = 6
    OTHER = 7
    """An order or identity number."""


PHONES = frozenset({Sort.MOBILE, Sort.LANDLINE, Sort.MASKED, Sort.ELEVEN, Sort.ODD, Sort.LOCAL})


class Number(NamedTuple):
    """Half-open range in the text, and what stands there."""

    start: int
    end: int
    sort: Sort


_GAP = r"[-\ ]{0,2}"
_EXTENSION = r"(?:\s?(?:(?:转分机|转|分机|ext\.?)\s?\d{1,6}|[-_*\#]\d{2,5})(?![\d号栋幢座楼室弄]|[-_]\d))?"
_CHINA = rf"(?:(?:\(\+?(?:00)?86\)|\+?(?:00)?86){_GAP})?"
_MOBILE_DIGITS = rf"1[3-9]\d(?:{_GAP}\d){{8}}(?!\d)"
_CARRIER = r"(?:sf|yt|jt|zto|ems|jd|sto|yd|dpk|tb|no\.)"
_NUMBER = re.compile(
    rf"""(?<!\d)(?:
        (?P<mobile> {_CHINA}{_MOBILE_DIGITS}{_EXTENSION})
      | (?P<masked> \d{{3}}(?:\d{{4}}[*x·]{{4}}|[*x·]{{3,5}}\d{{3,4}})(?!\d)
                  | \*{{6,7}}\d{{4}}(?!\d)
                  | 0\d{{2,3}}-?\d{{0,4}}[*x]{{4}}\d{{0,4}}(?!\d))
      | (?P<landline> {_CHINA}(?:\(0\d{{2,3}}\)|0\d{{2,3}}){_GAP}[1-9]\d{{6,7}}(?!\d){_EXTENSION}
                    | (?:\(0\d{{2,3}}\)|0\d{{2,3}}-)[-\ ]?\d{{7,8}}(?!\d){_EXTENSION}
                    | [48]00[-\ ]?\d{{3}}[-\ ]?\d{{4}}(?!-?\d) | [48]00-\d{{4}}-\d{{3}}(?!-?\d)
                    | 09\d\d[-\ ]\d{{3}}[-\ ]?\d{{3}}(?!\d)
                    | (?:\+|00)(?!86|{_MOBILE_DIGITS})\d{{1,3}}[-\ ]?\d{{2,4}}[-\ ]?\d{{3,4}}[-\ ]?\d{{0,4}}(?!\d))
      | (?P<eleven> {_CHINA}\d{{11}}(?!\d){_EXTENSION} | \d{{3}}[-\ ]\d{{4}}[-\ ]\d{{4}}(?![-\d]))
      | (?P<order> (?:(?<![a-z]){_CARRIER}\d{{9,30}} | (?:(?<![a-z])[a-z]{{1,4}}\.?)?\d{{12,30}})x?(?![\da-z]))
      | (?P<digits> \d{{6,10}}(?!\d)(?:-\d{{1,6}}(?!\d))?)
    )""",
    re.VERBOSE,
)
_SORTS = {"mobile": Sort.MOBILE, "masked": Sort.MASKED, "landline": Sort.LANDLINE, "eleven": Sort.ELEVEN}
_MOBILE = re.compile(r"1[3-9]\d{9}")
_IDENTITY = re.compile(r"[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dx]")
_UNIT = re.compile(r"\s?[号室栋幢座楼层米弄巷房单元户件元斤公里年a-z]|-\d")
_WORD_BEFORE = re.compile(rf"{HAN}|[a-z)#-]")


def find(plain: str) -> list[Number]:
    """The numbers of six digits or more, in order, without overlaps."""
    numbers: list[Number] = []
    for match in _NUMBER.finditer(plain):
        start, end = match.span()
        group = match.lastgroup
        if group == "order":
            numbers += _long(plain, start, end)
        elif group == "digits":
            numbers += _short(plain, start, end)
        elif group is not None:
            numbers.append(Number(start, end, _SORTS[group]))
    return numbers


def _long(plain: str, start: int, end: int) -> list[Number]:
    """Twelve digits or more: an identity number, a phone glued to a house number or postcode, or an order number."""
    length = end - start
    if not plain[start].isdigit() or (length == 18 and _IDENTITY.fullmatch(plain, start, end)):
        return [Number(start, end, Sort.OTHER)]
    if length == 17:
        if _MOBILE.fullmatch(plain, start, start + 11):
            return [Number(start, start + 11, Sort.MOBILE), Number(start + 11, end, Sort.POSTCODE)]
        if _MOBILE.fullmatch(plain, start + 6, end):
            return [Number(start, start + 6, Sort.POSTCODE), Number(start + 6, end, Sort.MOBILE)]
    glued = start > 0 and _WORD_BEFORE.match(plain, start - 1) is not None
    if glued and length <= 16 and _MOBILE.fullmatch(plain, end - 11, end):
        return [Number(end - 11, end, Sort.MOBILE)]
    if length == 12 and _MOBILE.match(plain, start, end):
        return [Number(start, end, Sort.ODD)]
    return [Number(start, end, Sort.OTHER)]


def _short(plain: str, start: int, end: int) -> list[Number]:
    """Six to ten digits: a postcode, a local phone, a mobile with a digit missing; nothing if they count something."""
    if _UNIT.match(plain, end):
        return []
    hyphen = plain.find("-", start, end)
    digits = (end if hyphen < 0 else hyphen) - start
    if digits == 6:
        return [Number(start, end, Sort.POSTCODE)] if hyphen < 0 else []
    if digits == 10 and plain[start] == "1" and plain[start + 1] in "3456789":
        return [Number(start, end, Sort.ODD)]
    if digits in (7, 8):
        return [Number(start, end, Sort.LOCAL)]
    return [Number(start, end, Sort.OTHER)]
