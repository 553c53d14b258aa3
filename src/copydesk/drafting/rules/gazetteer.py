"""The divisions of China as a table from every written form to what it may mean.

Data: AreaCity-JsSpider-StatsGov (MIT), names that were official earlier, and named development zones; made by
`scripts/build_rules.py`. Knows nothing of texts.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from copydesk.drafting.rules.folding import data

RULES_DATA_DATE = "2025-01-14"
"""Release of the table of divisions, ISO date."""

PROVINCE, CITY, DISTRICT = 0, 1, 2
_RANKS = "省市区县州旗盟"


class Place(NamedTuple):
    """A division and those above it; `level` says which of the three it is. A municipality is a city."""

    level: int
    province: str
    city: str
    district: str


class Form(NamedTuple):
    """One way of writing: the places it may mean. `full` forms end with their rank (石柱县), others do not (石柱)."""

    text: str
    full: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """The table, with the date of its release."""

    date: str
    forms: dict[str, Form]
    undivided: frozenset[str]
    """Cities that have no districts."""
    zones: dict[str, tuple[str, ...]]
    """City -> development zones known by their own name there."""


@functools.cache
def gazetteer() -> Gazetteer:
    """The table, read once."""
    source = json.loads(data("divisions.json.gz"))
    table = _Table()
    undivided = set(source["undivided"])
    zones: dict[str, tuple[str, ...]] = {}
    for province, below in source["provinces"].items():
        cities = below["cities"]
        if province in cities:
            table.add(province, below["forms"], Place(CITY, province, province, ""))
        else:
            table.add(province, below["forms"], Place(PROVINCE, province, "", ""))
        for city, parts in cities.items():
            if city != province:
                table.add(city, parts["forms"], Place(CITY, province, city, ""))
            if not parts["districts"]:
                undivided.add(city)
            for district, forms in parts["districts"].items():
                table.add(district, forms, Place(DISTRICT, province, city, district))
            for district in parts["old"]:
                table.add(district, (), Place(DISTRICT, province, city, district))
            zones[city] = tuple(parts["zones"])
    table.add_former(source)
    return Gazetteer(source["date"], table.forms(), frozenset(undivided), zones)


class _Table:
    """Forms while they are gathered."""

    def __init__(self) -> None:
        self.places: dict[str, list[Place]] = {}
        self.full: set[str] = set()

    def add(self, name: str, forms: Any, place: Place) -> None:
        """A division by its name and its other forms."""
        self.places.setdefault(name, []).append(place)
        self.full.add(name)
        for form in forms:
            if len(form) > 1:
                self.places.setdefault(form, []).append(place)
                if len(form) > 2 and form[-1] in _RANKS:
                    self.full.add(form)

    def add_former(self, source: dict[str, Any]) -> None:
        """Cities under old names, and prefectures of which only the province is left."""
        for old, (province, city) in source["renamed"].items():
            place = Place(CITY, province, city, "")
            self.add(old, (), place)
            bare = old.removesuffix("地区").removesuffix("市")
            if len(bare) > 1 and bare not in self.places:
                self.places[bare] = [place]
        for prefecture, province in source["abolished"].items():
            if prefecture not in self.places:
                self.add(prefecture, (), Place(PROVINCE, province, "", ""))

    def forms(self) -> dict[str, Form]:
        full = self.full
        return {
            text: Form(text, text in full, tuple(some if len(some) == 1 else dict.fromkeys(some)))
            for text, some in self.places.items()
        }
