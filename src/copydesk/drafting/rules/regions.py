"""What a chain of written divisions says, with what it implies: province, city and district by their full names.

Knows nothing of texts.
"""

from __future__ import annotations

from dataclasses import dataclass

from copydesk.drafting.rules.chains import Chain
from copydesk.drafting.rules.gazetteer import CITY, DISTRICT, PROVINCE
from copydesk.types import Span


@dataclass(frozen=True, slots=True)
class Region:
    """Full names, '' for what is open; for each the range where it is written, None where it is implied."""

    province: str
    city: str
    district: str
    spans: tuple[Span | None, Span | None, Span | None]


def region(chain: Chain, plain: str) -> Region:
    """The region of a chain in a folded text. What several places have in common is filled in, nothing is guessed."""
    places = chain.places
    lowest = min(place.level for place in places)
    if lowest < DISTRICT:
        places = tuple(place for place in places if place.level == lowest)
    provinces = {place.province for place in places}
    cities = {place.city for place in places}
    districts = {place.district for place in places}
    province = provinces.pop() if len(provinces) == 1 else ""
    city = cities.pop() if len(cities) == 1 else ""
    district = districts.pop() if len(districts) == 1 else ""
    if city and districts:
        # A short form of today's district may be the full name of an earlier one (赣县): then that one is meant.
        last = chain.elements[-1].form.text
        district = last if last in districts else places[0].district
    written: list[Span | None] = [None, None, None]
    for element in chain.elements:
        level = lowest if element is chain.elements[-1] else min(place.level for place in element.places)
        written[level] = Span(element.start, element.end)
    if chain.zone is not None:
        district = plain[chain.zone.start : chain.zone.end]
        written[DISTRICT] = chain.zone
    if province == city:
        written[PROVINCE] = written[PROVINCE] or written[CITY]
    return Region(
        province,
        city,
        district,
        (
            written[PROVINCE] if province else None,
            written[CITY] if city else None,
            written[DISTRICT] if district else None,
        ),
    )
