"""Chains of written divisions that agree with each other.

A chain is read from left to right (`广西南宁良庆区`): each form narrows what the ones before it may mean. Knows
nothing of labels, names and phones but where a part may begin.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import NamedTuple

from copydesk.drafting.rules.gazetteer import CITY, DISTRICT, PROVINCE, Form, Place, gazetteer
from copydesk.drafting.rules.lexicon import Words
from copydesk.drafting.rules.surroundings import BREAK, FILLER, GAP, ISLANDS, NAME_END, STREET_FIRST, THING, TOWN, ZONE
from copydesk.types import Span

_MOST_ELEMENTS = 6
_ANYWHERE = frozenset({"东区", "西区", "南区", "北区", "中区"})
"""Districts whose names are parts of most housing estates, too."""
_ISLAND_REGIONS = frozenset({"香港特别行政区", "澳门特别行政区"})
_AS_OFTEN_A_DISTRICT = frozenset({"朝阳", "新北", "兴安"})
"""Cities that are not meant where their short name stands alone."""


class Element(NamedTuple):
    """A written form in its place, and the places that it may mean there."""

    start: int
    end: int
    form: Form
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Forms that agree, left to right; `zone` is a development zone written in the district's place."""

    elements: tuple[Element, ...]
    zone: Span | None
    end: int
    score: float

    @property
    def start(self) -> int:
        return self.elements[0].start

    @property
    def places(self) -> tuple[Place, ...]:
        """What the whole chain may mean."""
        return self.elements[-1].places

    @property
    def is_sure(self) -> bool:
        """Whether it cannot well be anything but divisions."""
        return len(self.elements) > 1 or self.elements[0].form.full


class Reader:
    """Reads the chains of one folded text."""

    def __init__(self, plain: str, words: Words, edges: Container[int], stops: Container[int]) -> None:
        """`edges`: where a part may begin; `stops`: where a label begins."""
        self._plain = plain
        self._forms = words.forms
        self._edges = edges
        self._stops = stops

    def chains(self) -> list[Chain]:
        """All chains, in order, without overlaps."""
        chains: list[Chain] = []
        end = 0
        for start in sorted(self._forms):
            if start >= end:
                chain = self.chain_at(start)
                if chain is not None:
                    chains.append(chain)
                    end = chain.end
        return chains

    def chain_at(self, start: int, edge: bool | None = None) -> Chain | None:
        """The best chain that begins at a place. `edge`: whether a part may begin there, where that is known."""
        if edge is None:
            edge = start in self._edges
        best, elements = 0.0, None
        for end, form in self._forms.get(start, ()):
            worth, rest = self._rest(end, form, form.places, 1)
            found = (Element(start, end, form, form.places), *rest)
            worth += _worth(form)
            if worth > best and self._may_start(found, edge):
                best, elements = worth, found
        if elements is None:
            return None
        zone = self._zone(elements[-1])
        end = zone.end if zone else elements[-1].end
        if elements[-1].places[0].province in _ISLAND_REGIONS:
            island = ISLANDS.match(self._plain, end)
            end = island.end() if island else end
        return Chain(elements, zone, end, best + (1 if edge else 0) + (1 if zone else 0))

    def _rest(
        self, position: int, before: Form, places: tuple[Place, ...], depth: int
    ) -> tuple[float, tuple[Element, ...]]:
        """Worth and elements of the best continuation behind a form; nothing is a continuation, too."""
        best: tuple[float, tuple[Element, ...]] = (0.0, ())
        if depth >= _MOST_ELEMENTS:
            return best
        for start in self._next_places(position, places):
            for end, form in self._forms.get(start, ()):
                agreeing = _agreeing(places, form)
                if not agreeing:
                    continue
                worth, rest = self._rest(end, form, agreeing, depth + 1)
                if not rest and not form.full and not self._may_end(end, before, agreeing):
                    continue
                worth += _worth(form)
                if worth > best[0]:
                    best = worth, (Element(start, end, form, agreeing), *rest)
            if best[1]:
                break
        return best

    def _next_places(self, position: int, places: tuple[Place, ...]) -> list[int]:
        """Where the next form may stand: behind separators, then behind what pickers fill in."""
        plain = self._plain
        start = self._behind_gap(position)
        found = [start]
        filler = FILLER.match(plain, start)
        if filler is not None:
            found.append(self._behind_gap(filler.end()))
        elif plain[position : position + 1] == plain[position - 1] in "省市区县":
            # 福州市市台江区: the rank once too often.
            found.append(position + 1)
        elif places[0].province in _ISLAND_REGIONS:
            island = ISLANDS.match(plain, start)
            if island is not None:
                found.append(island.end())
        elif places[0].level == PROVINCE and plain[position : position + 1].isspace():
            street = STREET_FIRST.match(plain, position)
            if street is not None and any(
                plain.startswith(street[1], end) for end, _ in self._forms.get(street.end(), ())
            ):
                found.append(street.end())
        return found

    def _behind_gap(self, position: int) -> int:
        gap = GAP.match(self._plain, position)
        return gap.end() if gap else position

    def _may_start(self, elements: tuple[Element, ...], edge: bool) -> bool:
        """Whether a chain that begins here is likely meant as one."""
        first = elements[0]
        if len(elements) > 1:
            return edge or any(element.form.full for element in elements)
        if first.form.full:
            if first.end - first.start > 2:
                return True
            return edge and (len(first.places) == 1 or first.form.text not in _ANYWHERE or first.start == 0)
        if not edge or THING.match(self._plain, first.end) or NAME_END.match(self._plain, first.end):
            return False
        lowest = min(place.level for place in first.places)
        if sum(place.level == lowest for place in first.places) > 1 or first.form.text in _AS_OFTEN_A_DISTRICT:
            return False
        if lowest < DISTRICT or BREAK.match(self._plain, first.end):
            return True
        is_county = first.places[0].district[-1] in "县市旗"
        return is_county and (len(first.form.text) > 2 or TOWN.match(self._plain, first.end) is not None)

    def _may_end(self, end: int, before: Form, places: tuple[Place, ...]) -> bool:
        """Whether a bare form can be the last of a chain: not where it begins another name (开福 in 开福寺路).

        People who leave off one rank leave off the others: behind a bare form a bare one is likelier meant.
        """
        plain = self._plain
        if end in self._stops or BREAK.match(plain, end):
            return True
        if THING.match(plain, end):
            return False
        if min(place.level for place in places) < DISTRICT:
            return True
        if len(places) > 1:
            return False
        name = places[0].district
        return not before.full or name[-1] in "县市旗" or len(name) > 3 or TOWN.match(plain, end) is not None

    def _zone(self, last: Element) -> Span | None:
        place = last.places[0]
        if place.level != CITY or len({p.city for p in last.places}) != 1 or place.city in gazetteer().undivided:
            return None
        start = self._behind_gap(last.end)
        named = [zone for zone in gazetteer().zones.get(place.city, ()) if self._plain.startswith(zone, start)]
        if named:
            return Span(start, start + max(map(len, named)))
        match = ZONE.match(self._plain, start)
        return Span(start, match.end()) if match else None


def _worth(form: Form) -> float:
    return (3.0 if len(form.text) > 2 else 2.0) if form.full else 1.5


def _agreeing(before: tuple[Place, ...], form: Form) -> tuple[Place, ...]:
    """What a form may mean behind others: something below one of their places, or the same city or province in full."""
    found = []
    for place in form.places:
        for above in before:
            if place.level > above.level:
                if place.province == above.province and (above.level == PROVINCE or place.city == above.city):
                    found.append(place)
                    break
            elif place == above and form.full and place.level != DISTRICT:
                found.append(place)
                break
    return tuple(found)
