"""A text cut at what is certain: numbers, labels, the chain of divisions; and the gaps between, cut into pieces.

Names and locations are looked for in the gaps. Knows nothing of how they look.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from copydesk.drafting.rules import labels, marks, numbers
from copydesk.drafting.rules.chains import Chain, Reader
from copydesk.drafting.rules.labels import Label
from copydesk.drafting.rules.lexicon import lexicon
from copydesk.drafting.rules.marks import DASHED, DASHED_PIECE, PIECE, SEPARATOR, Border, Cut, Mark
from copydesk.drafting.rules.numbers import PHONES, Number, Sort
from copydesk.drafting.rules.wordings import Kind

_JOINT = re.compile(r"\n|;|。|②|\s2[.、)]")
"""What may separate two recipients."""
_BETWEEN = re.compile(r"[\s,;、|/\-]{0,3}")
_STALE = 3.0
"""How much better a later chain must be than an earlier one to be the one that is meant."""
_BEHIND_LABEL = {Kind.REGION: 9.0, Kind.ADDRESS: 2.0, Kind.DETAIL: 0.5, Kind.NAME: -3.0}
"""What a label adds to the score of the chain behind it."""
_OF_RECIPIENTS = frozenset({Kind.NAME, Kind.PHONE, Kind.ADDRESS, Kind.REGION, Kind.DETAIL})


@dataclass(frozen=True, slots=True)
class Gap:
    """A half-open range between two marks, and what these are."""

    start: int
    end: int
    before: Border
    after: Border


@dataclass(frozen=True, slots=True)
class Layout:
    """One folded text, laid out."""

    plain: str
    numbers: tuple[Number, ...]
    labels: Mapping[int, Kind]
    """Where a label's value begins -> what the label announces."""
    chain: Chain | None
    """The divisions that count."""
    gaps: tuple[Gap, ...]
    chatter: Sequence[int]
    """Where words of idle talk begin, in order."""
    reader: Reader
    edges: Set[int]
    """Where a part may begin."""
    glued: bool
    """Whether nothing at all separates the parts, as on waybills."""
    dashed: bool
    """Whether hyphens separate parts."""

    @property
    def has_phone(self) -> bool:
        return any(number.sort in PHONES and number.sort is not Sort.LOCAL for number in self.numbers)

    @property
    def has_recipient(self) -> bool:
        """Whether anything at all speaks for a recipient being named."""
        return self.chain is not None or self.has_phone or not _OF_RECIPIENTS.isdisjoint(self.labels.values())

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """The runs without separators in a range."""
        piece = DASHED_PIECE if self.dashed else PIECE
        return [match.span() for match in piece.finditer(self.plain, start, end)]

    def chatters(self, start: int, end: int, since: int) -> bool:
        """Whether idle talk begins in a range, outside of brackets that were opened behind `since`."""
        index = bisect_left(self.chatter, start)
        while index < len(self.chatter) and self.chatter[index] < end:
            place = self.chatter[index]
            if self.plain.count("(", since, place) <= self.plain.count(")", since, place):
                return True
            index += 1
        return False


def lay_out(plain: str) -> Layout:
    """Cut a folded text. Of two recipients in it only the first is laid out."""
    words = lexicon().find(plain)
    counted = numbers.find(plain)
    edges = {match.end() for match in SEPARATOR.finditer(plain)}
    glued = not edges
    edges.add(0)
    edges.update(number.end for number in counted)
    found: list[Label] = []
    if words.sure or words.unsure:
        found = labels.find(plain, words.sure, words.unsure, edges, words.forms)
        edges.update(label.end for label in found)
        counted = marks.with_labels(plain, counted, found)
    reader = Reader(plain, words, edges, {label.start for label in found})
    chains = reader.chains()
    end = _end_of_first(plain, counted, chains, found)
    if end < len(plain):
        return lay_out(plain[:end])
    chain = _meant(plain, chains, found)
    return Layout(
        plain=plain,
        numbers=tuple(counted),
        labels={label.end: label.kind for label in found},
        chain=chain,
        gaps=_gaps(plain, marks.find(plain, counted, found, chains, chain, edges)),
        chatter=[place for place in words.chatter if chain is None or not chain.start <= place < chain.end],
        reader=reader,
        edges=edges,
        glued=glued,
        dashed=DASHED.search(plain) is not None,
    )


def _end_of_first(plain: str, counted: Sequence[Number], chains: Sequence[Chain], found: Sequence[Label]) -> int:
    """Where a second recipient begins, with an address and a phone of its own; the text's length if there is none."""
    sure = [chain for chain in chains if chain.is_sure]
    if len(sure) < 2:
        return len(plain)
    phones = [number.start for number in counted if number.sort in PHONES]
    others = [chain.start for chain in sure if chain.places != sure[0].places]
    if len(phones) < 2 or not others:
        return len(plain)
    first = max(phones[0], sure[0].end)
    second = [place for place in (*phones, *others) if place > first]
    second += [label.start for label in found if label.kind is Kind.NAME and label.start > first]
    until = min(min(phones[-1], others[-1]), *second) if second else min(phones[-1], others[-1])
    joints = [match.start() for match in _JOINT.finditer(plain, first, until + 1)]
    return joints[-1] if joints else len(plain)


def _meant(plain: str, chains: Sequence[Chain], found: Sequence[Label]) -> Chain | None:
    """The first chain, unless a later one is much better, says more, or stands behind a label for regions."""
    bonus = {label.end: _BEHIND_LABEL.get(label.kind, 0.0) for label in found}
    best: Chain | None = None
    best_score = 0.0
    for chain in chains:
        score = chain.score + bonus.get(chain.start, 0.0)
        if best is None or score > best_score + _STALE or _completes(plain, best, chain):
            best, best_score = chain, score
    return best


def _completes(plain: str, first: Chain, second: Chain) -> bool:
    """Whether a chain right behind another says the same and more (江苏省苏州市江苏省苏州市虎丘区)."""
    if first.zone is not None or _BETWEEN.fullmatch(plain, first.end, second.start) is None:
        return False
    above, below = first.places[0], second.places[0]
    return (
        len(second.elements) > 1
        and below.level > above.level
        and below.province == above.province
        and above.city in ("", below.city)
    )


def _gaps(plain: str, found: Sequence[Mark]) -> tuple[Gap, ...]:
    """What lies between the marks."""
    gaps = []
    position = 0
    border: Border = Cut.EDGE
    for start, end, kind in found:
        if start > position:
            gaps.append(Gap(position, start, border, kind))
        if end >= position:
            position, border = end, kind
    if position < len(plain):
        gaps.append(Gap(position, len(plain), border, Cut.EDGE))
    return tuple(gaps)
