"""Which ranges of a text are neither name nor location: numbers, labels, divisions; and what separates parts.

Knows how a number's label changes what it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Sequence
from enum import Enum, auto
from typing import NamedTuple

from copydesk.drafting.rules.chains import Chain
from copydesk.drafting.rules.folding import HAN
from copydesk.drafting.rules.labels import Label
from copydesk.drafting.rules.numbers import PHONES, Number, Sort
from copydesk.drafting.rules.wordings import Kind

_PICTURES = (
    r"\u2190-\u21ff\u2300-\u23ff\u2460-\u249b\u24ea-\u27bf\u2900-\u297f\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff"
)
_SEPARATORS = rf"\s,;、|/:。!?~+&_=【】\[\]{{}}<>「」『』《》\"'“”…\\{_PICTURES}"
SEPARATOR = re.compile(rf"(?:[{_SEPARATORS}()#*]|--|(?<=[\s,;])-|-(?=[\s,;]|{HAN}))+")
PIECE = re.compile(rf"(?:(?!--)[^{_SEPARATORS}])+")
"""A run without separators."""
DASHED_PIECE = re.compile(rf"(?:[^{_SEPARATORS}-]|-(?=\d))+")
"""The same where hyphens stand between parts; those before digits are no separators (88-1号)."""
DASHED = re.compile(r"(?<![a-z\d])\+?\d{7,12}-(?!\d)|[^\d\s]-\+?\d{7}")
"""A phone with a hyphen between it and another part."""
_REMARK = re.compile(r"[^\s;|,。]*")
_CODE = re.compile(r"[a-z0-9-]*")
_PHONE_VALUE = re.compile(r"[+(]?\d[\d\- ()]{1,18}\d")
_HEADING = re.compile(r"(?:收货|收件|寄件)人?信息")
_NAME_THEN_PHONE = re.compile(rf"(?:{HAN}|·){{1,8}}(?:\s|[:,;收]|\d{{7}}|phone|mobile|tel|call|$)")
_NO_POSTCODE_BEFORE = re.compile(r"(?:[第#]|\d-|(?<!\d)[a-z]|[a-z]{2})$")


class Cut(Enum):
    """What a gap between marks borders on, besides labels."""

    EDGE = auto()
    """The start or the end of the text, or a heading."""
    PHONE = auto()
    NUMBER = auto()
    CHAIN = auto()
    STALE = auto()
    """Divisions that were written before the ones that count."""


Border = Cut | Kind


class Mark(NamedTuple):
    """A half-open range and what stands there."""

    start: int
    end: int
    border: Border


def with_labels(plain: str, numbers: list[Number], labels: Sequence[Label]) -> list[Number]:
    """Numbers by what their labels say: no phone behind `订单号`, any digits a phone behind `电话`."""
    kinds = {label.end: label.kind for label in labels}
    starts = [number.start for number in numbers]
    result = []
    for number in numbers:
        kind = kinds.get(number.start)
        if kind is Kind.NUMBER or kind is Kind.POSTCODE:
            number = number._replace(sort=Sort.OTHER)
        elif kind is Kind.PHONE and number.sort not in PHONES:
            number = number._replace(sort=Sort.LOCAL)
        result.append(number)
    for start, kind in kinds.items():
        if kind is Kind.PHONE:
            match = _PHONE_VALUE.match(plain, start)
            index = bisect_left(starts, start)
            if match and (index == len(starts) or starts[index] >= match.end()):
                result.append(Number(start, match.end(), Sort.LOCAL))
    return sorted(result)


def find(
    plain: str,
    numbers: Sequence[Number],
    labels: Sequence[Label],
    chains: Sequence[Chain],
    meant: Chain | None,
    edges: Container[int],
) -> list[Mark]:
    """The marks in order. `meant` is the chain that counts; others before it are stale."""
    marks: list[Mark] = []
    for number in numbers:
        if number.sort in PHONES:
            if number.sort is not Sort.LOCAL or number.start in edges or number.end == len(plain):
                marks.append(Mark(number.start, number.end, Cut.PHONE))
        elif number.sort is Sort.OTHER or _is_postcode(plain, number):
            marks.append(Mark(number.start, number.end, Cut.NUMBER))
    marks += [_label_mark(plain, label) for label in labels]
    if meant is not None:
        marks.append(Mark(meant.start, meant.end, Cut.CHAIN))
        for chain in chains:
            if chain.start >= meant.start:
                break
            if chain.elements[-1].form.full:
                marks.append(Mark(chain.start, chain.end, Cut.STALE))
    marks.sort(key=lambda mark: (mark.start, -mark.end))
    return marks


def _label_mark(plain: str, label: Label) -> Mark:
    """A label, with its value where that belongs to no field."""
    start, end, kind = label
    match: re.Match[str] | None = None
    if kind is Kind.OTHER:
        if _HEADING.match(plain, start):
            return Mark(start, end, Cut.EDGE)
        match = _REMARK.match(plain, end)
    elif kind is Kind.NUMBER or kind is Kind.POSTCODE:
        match = _CODE.match(plain, end)
    return Mark(start, match.end() if match else end, kind)


def _is_postcode(plain: str, number: Number) -> bool:
    """Whether six digits are a postcode: alone, in brackets, or glued behind a location."""
    start, end, _ = number
    alone = end == len(plain) or plain[end] == "1" or SEPARATOR.match(plain, end) is not None
    if not alone and not _NAME_THEN_PHONE.match(plain, end):
        return False
    return start == 0 or plain[start - 1] == ")" or not _NO_POSTCODE_BEFORE.search(plain, max(0, start - 2), start)
