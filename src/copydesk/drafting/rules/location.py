"""The rest of an address: what stands behind the divisions, in order, without what belongs to other fields.

Knows nothing of how names and phones are found.
"""

from __future__ import annotations

import re

from copydesk.drafting.rules.folding import HAN
from copydesk.drafting.rules.gazetteer import PROVINCE
from copydesk.drafting.rules.layout import Gap, Layout
from copydesk.drafting.rules.marks import SEPARATOR, Cut
from copydesk.drafting.rules.names import Name
from copydesk.drafting.rules.people import is_sentence
from copydesk.drafting.rules.regions import Region
from copydesk.drafting.rules.surroundings import INSTITUTION, TOWN
from copydesk.drafting.rules.wordings import Kind
from copydesk.types import Span

_LONGEST = 120
"""Code points of a location; what is longer is no address."""
_OPENED = dict(zip("(「『《[【{<“", ")」』》]】}>”", strict=True))
_CLOSED = {right: left for left, right in _OPENED.items()}
_ADDRESS = re.compile(
    r"路|街|大道|巷|弄|胡同|村|镇|乡|小区|大厦|广场|花园|社区|公寓|苑|学校|医院|学院|大学|公司|风景区|\d+(?:号|栋|幢|室|单元|楼|座|弄|层)"
)
_PRICE = re.compile(r"\d(?:元|折|件|减|%|块)")
_STREET = re.compile(rf"{HAN}{{1,6}}?(?:镇|乡|街道)")
_NO_ADDRESS = frozenset({Kind.NAME, Kind.NUMBER, Kind.POSTCODE, Kind.OTHER})


def first_gap(layout: Layout) -> Gap | None:
    """The gap in which the location begins: behind the divisions, else behind a label for addresses."""
    filled = [gap for gap in layout.gaps if layout.pieces(gap.start, gap.end)]
    for border in (Cut.CHAIN, Kind.DETAIL, Kind.ADDRESS):
        for gap in filled:
            if gap.before is border:
                talk = layout.chain is None and is_sentence(layout.plain[gap.start : gap.start + _LONGEST])
                return None if talk else gap
    return None


def find(layout: Layout, first: Gap | None, name: Name | None, region: Region | None) -> tuple[Span, ...]:
    """The ranges that the location is made of."""
    gaps = [first or _likeliest(layout, name)]
    gaps += [gap for gap in layout.gaps if gap.before is Kind.DETAIL and gap is not first]
    spans: list[Span] = []
    for gap in gaps:
        if gap is not None:
            span = _trimmed(layout, *_without(layout, gap, name), region, gap.before is not Cut.CHAIN)
            if span is not None and all(_text(layout, span) != _text(layout, other) for other in spans):
                spans.append(span)
    return tuple(spans)


def _likeliest(layout: Layout, name: Name | None) -> Gap | None:
    """Without divisions and labels: the gap that looks most like an address."""
    best, least = None, 0 if layout.has_recipient else 1
    for gap in layout.gaps:
        start, end = _without(layout, gap, name)
        end = min(end, start + _LONGEST)
        if gap.before in _NO_ADDRESS or layout.chatters(start, end, start) or _PRICE.search(layout.plain, start, end):
            continue
        looks = len(_ADDRESS.findall(layout.plain, start, end))
        if looks > least:
            best, least = gap, looks
    return best


def _without(layout: Layout, gap: Gap, name: Name | None) -> tuple[int, int]:
    """The part of a gap before the name; behind it where the name begins the gap."""
    if name is None or not gap.start <= name.start < gap.end:
        return gap.start, gap.end
    return (gap.start, name.start) if layout.pieces(gap.start, name.start) else (name.end, gap.end)


def _trimmed(layout: Layout, start: int, end: int, region: Region | None, apart: bool) -> Span | None:
    """A range without repeated divisions at its beginning, idle talk at its end, and separators at both."""
    plain = layout.plain
    end = min(end, start + _LONGEST)
    for left, right in layout.pieces(start, end):
        in_new_line = plain[left] == "(" and plain[left - 1 : left] == "\n"
        if (left > start or apart) and layout.chatters(left, right, left + 1 if in_new_line else start):
            end = left
            break
    start, end = _stripped(plain, start, end)
    if region is not None:
        start, end = _stripped(plain, _behind_repeats(layout, start, end, region), end)
    return Span(start, end) if start < end else None


def _stripped(plain: str, start: int, end: int) -> tuple[int, int]:
    """A range without separators at its ends, and without brackets there that have no partner."""
    while start < end:
        first, last = plain[start], plain[end - 1]
        if _is_outer(plain, start, start, end) or (first in _OPENED and plain.find(_OPENED[first], start, end) < 0):
            start += 1
        elif (
            _is_outer(plain, end - 1, start, end)
            or (last in _CLOSED and plain.find(_CLOSED[last], start, end) < 0)
            or (last == "给" and end - start > 1)
        ):
            end -= 1
        else:
            break
    return start, end


def _is_outer(plain: str, place: int, start: int, end: int) -> bool:
    """Whether a character at an end of a range separates; brackets do where what they enclose is not all inside."""
    character = plain[place]
    if character in _OPENED:
        return place == end - 1
    if character in _CLOSED:
        return place == start
    return character in "-." or (character not in "()#" and SEPARATOR.match(plain, place) is not None)


def _behind_repeats(layout: Layout, start: int, end: int, region: Region) -> int:
    """Past the divisions where they are written once more, with or without a street before that is also repeated."""
    plain = layout.plain
    for _ in range(3):
        after = _repeated(layout, start, region)
        if after is None:
            break
        start = _stripped(plain, min(after, end), end)[0]
    street = _STREET.match(plain, start, end)
    if street is not None:
        again = _stripped(plain, street.end(), end)[0]
        after = _repeated(layout, again, region)
        if after is not None and plain.startswith(street[0], after):
            return after
    return start


def _repeated(layout: Layout, start: int, region: Region) -> int | None:
    """Where divisions end that say nothing that is not said already; None where there are none, or where they belong to
    the name behind them."""
    chain = layout.reader.chain_at(start, edge=True)
    if chain is None:
        return None
    plain, place = layout.plain, chain.places[0]
    if chain.zone is not None:
        return chain.end if plain[chain.zone.start : chain.zone.end] == region.district else None
    said = ((place.province, region.province), (place.city, region.city), (place.district, region.district))
    if any(name and name != known for name, known in said) or not chain.elements[-1].form.full:
        return None
    town = TOWN.match(plain, chain.end)
    if len(chain.elements) == 1 and town is None and INSTITUTION.match(plain, chain.end):
        return None
    # Glued on a waybill, a district that stands twice belongs to the street behind it (忠县忠县乐天支路).
    at_once = layout.glued and layout.chain is not None and start == layout.chain.end
    has_province = chain.elements[0].places[0].level == PROVINCE
    if at_once and place.district and not has_province and town is None:
        return None
    return chain.end


def _text(layout: Layout, span: Span) -> str:
    return layout.plain[span.start : span.end]
