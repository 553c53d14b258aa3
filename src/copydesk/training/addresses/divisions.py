"""All divisions with the ways in which they are written, and which of those ways are unique.

Knows nothing of how a text names a place; that is `written`'s.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copydesk.training.addresses.history import MOVED_COUNTIES, NAMED_ZONES, OLD_DISTRICTS, ZONES

ISLANDS = ("香港特别行政区", "澳门特别行政区")
WITHOUT_DISTRICTS = frozenset({"东莞市", "中山市", "儋州市", "嘉峪关市"})
PEOPLES = (
    "满族 蒙古族 回族 藏族 维吾尔族 苗族 彝族 壮族 布依族 朝鲜族 侗族 瑶族 白族 土家族 哈尼族 哈萨克族 傣族 黎族 傈僳族 佤族 畲族 高山族 拉祜族 水族 "
    "东乡族 纳西族 景颇族 柯尔克孜族 土族 达斡尔族 仫佬族 羌族 布朗族 撒拉族 毛南族 仡佬族 锡伯族 阿昌族 普米族 塔吉克族 怒族 鄂温克族 保安族 裕固族 "
    "独龙族 鄂伦春族 各族 蒙古 哈萨克 柯尔克孜 维吾尔"
).split()


@dataclass(frozen=True, slots=True)
class Place:
    """One district (or a city without districts), named in full; `streets` are the towns and street offices below it."""

    province: str
    city: str
    district: str
    streets: tuple[str, ...] = ()
    zone: bool = False


def bare_name(name: str) -> str:
    """The name without its rank and peoples (恭城瑶族自治县: 恭城); the name itself where nothing would be left."""
    bare = name
    for rank in (
        "自治州",
        "自治县",
        "自治旗",
        "特别行政区",
        "自治区",
        "地区",
        "新区",
        "林区",
        "省",
        "市",
        "区",
        "县",
        "盟",
    ):
        if bare.endswith(rank) and len(bare) > len(rank) + 1:
            bare = bare[: -len(rank)]
            break
    changed = True
    while changed:
        changed = False
        for people in PEOPLES:
            if bare.endswith(people) and len(bare) > len(people) + 1:
                bare, changed = bare[: -len(people)], True
    return bare


def rank_form(name: str) -> str:
    """A spoken middle form: 石柱土家族自治县 -> 石柱县, 凉山彝族自治州 -> 凉山州; the name itself where there is none."""
    for official, spoken in (("自治州", "州"), ("自治县", "县"), ("自治旗", "旗")):
        if name.endswith(official):
            return bare_name(name) + spoken
    if name.endswith("族区"):
        return bare_name(name) + "区"
    if name.endswith("新区") and len(name) > 3:
        return name[:-2] + "区"
    return name


class Divisions:
    """All places with the ways in which they are written, and which of those ways are unique."""

    def __init__(self, provinces: Sequence[Mapping[str, Any]]) -> None:
        """`provinces`: `[{"name", "cities": [{"name", "districts": [{"name", "streets": [name]}]}]}]`."""
        self.places: list[Place] = []
        self.province_of: dict[str, str] = {}
        for province in provinces:
            for city in province["cities"]:
                self.province_of[city["name"]] = province["name"]
                for district in city["districts"]:
                    name = district["name"]
                    if name in ISLANDS:
                        # Their districts are listed where streets are.
                        self.places += [Place(name, name, part) for part in district.get("streets", ())]
                    if name == city["name"]:
                        name = ""
                    streets = tuple(street for street in district.get("streets", ()) if street != name)
                    self.places.append(Place(province["name"], city["name"], name, streets))
        self.old_places = [
            Place(self.province_of[city], city, name)
            for city, names in OLD_DISTRICTS.items()
            for name in names.split()
            if city in self.province_of
        ]
        self.moved = [moved for moved in MOVED_COUNTIES if moved[3] in self.province_of]
        self.zones = [
            Place(self.province_of[city], city, zone, (), True)
            for city, zones in NAMED_ZONES.items()
            if city in self.province_of
            for zone in zones.split()
        ]
        self.by_city: dict[str, list[Place]] = defaultdict(list)
        for place in self.places:
            self.by_city[place.city].append(place)
        self.cities = list(self.by_city)
        self.without_districts = sorted(WITHOUT_DISTRICTS.intersection(self.cities))
        # Every way a name can be written -> the (province, city, district) it may stand for.
        self.meanings: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        for place in self.places:
            if place.district:
                for form in {place.district, rank_form(place.district), bare_name(place.district)}:
                    self.meanings[form].add((place.province, place.city, place.district))
        for place in self.old_places:
            # An old name is only meant where it is written out: 从化市 is 从化市, 从化 is today's 从化区.
            self.meanings[place.district].add((place.province, place.city, place.district))
        for city, province_name in self.province_of.items():
            for form in {city, rank_form(city), bare_name(city)}:
                self.meanings[form].add((province_name, city, ""))

        self.namesakes = [p for p in self.places if p.district and bare_name(p.district) == bare_name(p.city)]
        self.county_cities = [p for p in self.places if p.district.endswith("市")]
        self.ambiguous = [p for p in self.places if p.district and len({m[1] for m in self.meanings[p.district]}) > 1]

    def implied(self, form: str, province: str = "") -> tuple[str, str]:
        """Province and city that a district's written form implies: '' for what stays open."""
        meanings = {m for m in self.meanings.get(form, ()) if not province or m[0] == province}
        provinces = {m[0] for m in meanings}
        cities = {m[1] for m in meanings}
        return (
            province or (next(iter(provinces)) if len(provinces) == 1 else ""),
            next(iter(cities)) if len(cities) == 1 else "",
        )

    def draw(self, rng: random.Random) -> Place:
        """A place: by city first, so that large and small cities are as frequent as small ones; sometimes old, sometimes a zone."""
        dice = rng.random()
        if dice < 0.05:
            return rng.choice(self.old_places)
        if dice < 0.085:
            return rng.choice(self.zones)
        if dice < 0.10:
            city = rng.choice(self.cities)
            if city not in WITHOUT_DISTRICTS and len(self.by_city[city]) > 1:
                return Place(self.province_of[city], city, rng.choice(ZONES), (), True)
        if dice < 0.13:
            return rng.choice(self.by_city[rng.choice(self.without_districts)])
        if dice < 0.16:
            direct = rng.choice(self.places)
            for _ in range(200):
                if not direct.district:
                    break
                direct = rng.choice(self.places)
            return direct
        if dice < 0.5:
            return rng.choice(self.by_city[rng.choice(self.cities)])
        return rng.choice(self.places)
