"""Where in a text the recipient's name stands: behind a label, beside the phone, or glued to the address.

Knows how good each place is, not how names look (people.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from copydesk.drafting.rules.folding import HAN
from copydesk.drafting.rules.layout import Gap, Layout
from copydesk.drafting.rules.marks import Cut
from copydesk.drafting.rules.people import LONGEST, RECEIVED, head_name, is_sentence, is_surname, name_score, tail_name
from copydesk.drafting.rules.wordings import Kind

How = Literal["label", "piece", "tail", "head"]

_HOPELESS = -90
_NO_NAMES = frozenset({Kind.NUMBER, Kind.POSTCODE, Kind.OTHER, Kind.REGION, Cut.STALE})
"""Behind these, there is no name."""
_TRIM_LEFT = re.compile(r"[\s\-.·*#()、:]*(?:\d{1,2}[.)、])?[\s\-.·(]*(?:我姓名叫|我叫|我是|就写|本人|叫|填|写|找|给)?")
_TRIM_RIGHT = re.compile(r"(?:就行|就好|即可|本人收?|[\s\-.·*#)(>→])+$")
_TALK = re.compile(r"[我你您请吗吧]|谢谢|错了")
_MASKED = re.compile(rf"{HAN}\*{{1,2}}")
_LATIN_WORD = re.compile(r"[a-z][a-z.]{0,14}")
_GIVEN_NAME = re.compile(rf"{HAN}{{1,2}}")
_RECEIVED_ALONE = frozenset({"收", "启", "签收", "亲收", "亲启", "收件", "(收)", "(启)", "(亲启)"})
_NEAR_PHONE = frozenset({Cut.PHONE, Kind.PHONE})


@dataclass(frozen=True, slots=True)
class Name:
    """Half-open range of a name, how it was found, and its score (people.py) with what its place adds."""

    start: int
    end: int
    how: How
    score: int


def find(layout: Layout, location: Gap | None) -> Name | None:
    """The name, or None. `location` is the gap in which the rest of the address begins."""
    for gap in layout.gaps:
        if gap.before is Kind.NAME:
            name = _labelled(layout, gap)
            if name is not None:
                return name
    return _best_piece(layout, location) or _glued(layout, location)


def _labelled(layout: Layout, gap: Gap) -> Name | None:
    """The first piece behind a label."""
    pieces = _pieces(layout, gap)
    if not pieces:
        return None
    start, end = _clean(layout.plain, *pieces[0])
    text = layout.plain[start:end]
    if not text or _TALK.search(text[: 2 * LONGEST]):
        return None
    score = name_score(text)
    if len(text) > 7 and score < 0 and "·" not in text and not text.isascii():
        # Name and location with nothing between them.
        length = head_name(text[:LONGEST], 0)
        return Name(start, start + length, "head", 0) if length else None
    return Name(start, end, "label", score)


def _best_piece(layout: Layout, location: Gap | None) -> Name | None:
    """The run between separators that is likeliest a name, by its looks and its neighbours."""
    best: Name | None = None
    least = 0 if layout.has_recipient else 50
    for gap in layout.gaps:
        if gap.before in _NO_NAMES and gap is not location:
            continue
        behind_address = gap is location or gap.before is Kind.DETAIL or gap.before is Kind.ADDRESS
        pieces = _pieces(layout, gap)
        while behind_address and pieces and layout.chatters(*pieces[-1], pieces[-1][0]):
            pieces.pop()
        last = len(pieces) - 1
        for number, (left, right) in enumerate(pieces):
            glued = gap is location and left == gap.start
            if (behind_address and (number < last or glued)) or right - left > 2 * LONGEST:
                continue
            start, end = _clean(layout.plain, left, right)
            score = name_score(layout.plain[start:end])
            if score <= _HOPELESS or is_sentence(layout.plain[left:right]) or layout.chatters(start, end, start):
                continue
            score += _neighbours(layout, gap, number, last, behind_address)
            if behind_address and number == 0:
                score -= 40
            if RECEIVED.match(layout.plain, end):
                score += 40
            if score > least:
                best, least = Name(start, end, "piece", score), score
    return best


def _neighbours(layout: Layout, gap: Gap, number: int, last: int, behind_address: bool) -> int:
    """How much the place of a piece speaks for a name."""
    score = 0
    first = number == 0
    if (first and gap.before is Cut.PHONE) or (number == last and gap.after in _NEAR_PHONE):
        score += 60
    elif behind_address and gap.after is not Cut.EDGE:
        score -= 20
    if first and number == last:
        score += 15
    elif not behind_address and last > 1:
        score -= 15
    if (first and gap.before is Cut.EDGE) or (number == last and gap.after is Cut.EDGE):
        score += 50 if layout.has_phone else 5
    return score


def _glued(layout: Layout, location: Gap | None) -> Name | None:
    """A name glued to the end of the location, or between phone and location."""
    plain = layout.plain
    if location is not None and location.after in (Cut.EDGE, Cut.NUMBER, *_NEAR_PHONE):
        pieces = layout.pieces(location.start, location.end)
        while pieces and layout.chatters(*pieces[-1], pieces[-1][0]):
            pieces.pop()
        for left, right in pieces[-1:]:
            right = _trimmed_right(plain, left, right)
            received = RECEIVED.search(plain, max(left, right - 6), right)
            end = received.start() if received else right
            least = 40
            if received or location.after in _NEAR_PHONE:
                least = -20
            elif layout.has_phone:
                least = -10 if layout.glued else 0
            length = tail_name(plain[max(left, end - 2 * LONGEST) : end], least)
            if length:
                return Name(end - length, end, "tail", least)
    if layout.chain is None:
        for gap in layout.gaps:
            if gap.before is Cut.PHONE or (gap.before is Cut.EDGE and gap.after is Cut.PHONE):
                for left, right in layout.pieces(gap.start, gap.end)[:1]:
                    length = head_name(plain[left : min(right, left + LONGEST)], 40)
                    if length:
                        return Name(left, left + length, "head", 40)
    return None


def _pieces(layout: Layout, gap: Gap) -> list[tuple[int, int]]:
    """The pieces of a gap; names that have a space in them are one (John Smith, 韦 载); without `收` at the end."""
    plain = layout.plain
    joined: list[tuple[int, int]] = []
    for start, end in layout.pieces(gap.start, gap.end):
        if not plain[start:end].strip("-.·"):
            continue
        if joined and start == joined[-1][1] + 1 and plain[start - 1] == " ":
            before = joined[-1]
            latin = _LATIN_WORD.fullmatch(plain, start, end) and _LATIN_WORD.fullmatch(plain, *before)
            if latin or (_GIVEN_NAME.fullmatch(plain, start, end) and is_surname(plain[slice(*before)])):
                joined[-1] = (before[0], end)
                continue
        joined.append((start, end))
    while joined and plain[slice(*joined[-1])] in _RECEIVED_ALONE:
        joined.pop()
    return joined


def _clean(plain: str, start: int, end: int) -> tuple[int, int]:
    """A piece without list numbers, stray brackets, phrases (我叫) and `收`."""
    match = _TRIM_LEFT.match(plain, start, end)
    if match is not None and match.end() < end:
        start = match.end()
    end = _trimmed_right(plain, start, end)
    received = RECEIVED.search(plain, max(start, end - 6), end)
    if received is not None and received.start() > start:
        end = _trimmed_right(plain, start, received.start())
    return start, end


def _trimmed_right(plain: str, start: int, end: int) -> int:
    in_brackets = plain[end - 1] == ")" and plain.find("(", start, end) >= 0
    if in_brackets or _MASKED.fullmatch(plain, start, end):
        return end
    match = _TRIM_RIGHT.search(plain, max(start, end - 8), end)
    return match.start() if match is not None and match.start() > start else end
