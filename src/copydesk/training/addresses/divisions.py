"""Divisions written down: which levels a text names, in what form, and what that implies.

The labels follow the conventions of the address task: full official names, filled in where the text implies them uniquely,
never guessed where it does not. Knows nothing of the rest of a line.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copydesk.training.addresses.history import MOVED_COUNTIES, NAMED_ZONES, OLD_CITIES, OLD_DISTRICTS, ZONES

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


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the text for the divisions, in order, and the fields that it implies."""

    levels: tuple[str, ...]
    province: str
    city: str
    district: str


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


SPOKEN = {
    "内蒙古自治区": "内蒙",
    "呼和浩特市": "呼市",
    "乌鲁木齐市": "乌市",
    "哈尔滨市": "哈市",
    "齐齐哈尔市": "齐市",
    "鄂尔多斯市": "鄂市",
    "佳木斯市": "佳市",
}
"""Names that people shorten in a way of their own."""


def province_form(name: str, rng: random.Random) -> str:
    if name in SPOKEN and rng.random() < 0.15:
        return SPOKEN[name]
    short = {"内蒙古自治区": "内蒙古", "黑龙江省": "黑龙江"}.get(name, bare_province(name))
    dice = rng.random()
    if dice < 0.86:
        return short
    if name.endswith("自治区"):
        return short + ("省" if dice < 0.95 else "区" if name != "内蒙古自治区" else "省")
    if name.endswith("特别行政区"):
        return short + "特区"
    return short


def bare_province(name: str) -> str:
    for rank in ("壮族自治区", "回族自治区", "维吾尔自治区", "自治区", "特别行政区", "省", "市"):
        if name.endswith(rank):
            return name[: -len(rank)]
    return name


def write_divisions(place: Place, divisions: Divisions, rng: random.Random, style: str = "any") -> Written:
    """Write a place's divisions. `style`: `full` (all levels, as on waybills), `city` (city and district), `any`."""
    dice = rng.random()
    if style == "any" and 0.58 <= dice < 0.82 and not place.zone:
        # A district without its city: recalled, not copied, so the hard ones are drawn more often.
        swap = rng.random()
        if swap < 0.2:
            place = rng.choice(divisions.ambiguous)
        elif swap < 0.3:
            place = rng.choice(divisions.namesakes or divisions.places)
        elif swap < 0.55:
            place = rng.choice(divisions.county_cities or divisions.places)
    municipality = place.province == place.city
    island = place.province in ("台湾省", "香港特别行政区", "澳门特别行政区")
    province, city, district = place.province, place.city, place.district
    if style == "full":
        keep = (True, True, bool(district))
    elif style == "city":
        keep = (False, True, bool(district))
    elif dice < 0.36:
        keep = (True, True, bool(district))
    elif dice < 0.58:
        keep = (False, True, bool(district))
    elif dice < 0.75 and district and not place.zone and not island:
        keep = (False, False, True)
    elif dice < 0.82 and district and not place.zone and not island:
        keep = (True, False, True)
    elif dice < 0.91:
        keep = (True, True, False)
    elif dice < 0.97:
        keep = (False, True, False)
    elif dice < 0.985:
        keep = (True, False, False)
    else:
        keep = (True, True, bool(district))
    has_province, has_city, has_district = keep
    levels: list[str] = []
    full_only = style != "any" or rng.random() < 0.72
    if municipality:
        # A municipality stands once or twice, short or long.
        forms = [[city]] * 5 + [[bare_province(city), city]] * 4 + [[city, city]] * 2 + [[bare_province(city)]] * 2
        if style == "city":
            forms = [[city]]
        if style == "full" and not island:
            forms = [[bare_province(city), city]] * 6 + [[city]] + [[city, city]]
        if island:
            forms = [[city]] * 3 + [[bare_province(city)]] * 2
            region = {"香港特别行政区": ("香港岛", "九龙", "新界"), "澳门特别行政区": ("澳门半岛", "氹仔", "路环")}[
                city
            ]
            if rng.random() < 0.3:
                forms = [[city, rng.choice(region)]]
        if has_province or has_city:
            levels += rng.choice(forms)
            out_province, out_city = province, city
        else:
            out_province = out_city = ""
        if not island and levels and levels[-1] == city and has_district and style == "any" and rng.random() < 0.06:
            levels.append("市辖区")
        elif city == "重庆市" and levels and district.endswith("县") and has_district and rng.random() < 0.12:
            levels = [*levels[:-1], "重庆市县"]
    else:
        out_province = out_city = ""
        if has_province:
            form = province if full_only or rng.random() < 0.5 else province_form(province, rng)
            if island:
                form = "台湾" if rng.random() < 0.6 else province
            levels.append(form)
            out_province = province
        if has_city:
            form = city
            if not full_only:
                dice = rng.random()
                form = (
                    city
                    if dice < 0.35
                    else SPOKEN.get(city, city)
                    if dice < 0.36 or dice > 0.93
                    else rank_form(city)
                    if dice < 0.5
                    else bare_name(city)
                )
                if form != city and len(divisions.meanings[form]) > 1 and not has_province:
                    form = city
                # A bare city that is also a district of its own (邵阳, 湘潭) is settled by what follows; keep those rare.
                if form == bare_name(city) and len(form) < 2:
                    form = city
            if not place.district and not municipality and len(divisions.by_city[city]) == 1 and rng.random() < 0.25:
                unit = {"海南省": "海南省省直辖县级行政区划", "新疆维吾尔自治区": "自治区直辖县级行政区划"}.get(
                    province, "省直辖县级行政区划" if rng.random() < 0.7 else "省直辖县"
                )
                if city not in WITHOUT_DISTRICTS:
                    levels.append(unit)
                    if rng.random() < 0.1:
                        levels = [province, province]
            levels.append(form)
            if not district and form == city and rng.random() < 0.12:
                # A picker that has no district to offer repeats the city.
                levels.append(city)
            out_city, out_province = city, province
    out_district = ""
    if has_district:
        form = district
        if not full_only and not place.zone:
            dice = rng.random()
            if dice < 0.25:
                form = rank_form(district)
            elif dice < 0.45 and len(bare_name(district)) >= 2:
                form = bare_name(district)
        if form != district:
            context = {
                m
                for m in divisions.meanings[form]
                if (not has_province or m[0] == province) and (not (has_city and out_city) or m[1] == city)
            }
            if context != {(province, city, district)}:
                form = district
        levels.append(form)
        out_district = district
        if not out_city:
            implied_province, implied_city = divisions.implied(form, out_province)
            out_province, out_city = out_province or implied_province, implied_city
    if not municipality and has_city and has_district and not place.zone and not island and rng.random() < 0.006:
        for old, now in OLD_CITIES.items():
            if now == city:
                levels = [old if level == city else level for level in levels]
    if style == "any" and divisions.moved and rng.random() < 0.002:
        old_province, prefecture, county, now = rng.choice(divisions.moved)
        levels = [old_province, prefecture, county] if rng.random() < 0.5 else [prefecture, county]
        return Written(tuple(levels), old_province, now, county)
    if style == "any" and len(levels) > 1 and rng.random() < 0.012:
        levels = misspelt(levels, rng)
    return Written(tuple(levels), out_province, out_city, out_district)


CONFUSED = {
    "州": "洲",
    "洲": "州",
    "市": "巿",
    "江": "讧",
    "阳": "杨",
    "湖": "胡",
    "海": "诲",
    "城": "成",
    "宁": "拧",
    "武": "五",
    "南": "男",
    "山": "三",
    "区": "曲",
    "县": "线",
    "杭": "抗",
    "深圳": "深训",
    "圳": "川",
    "津": "律",
    "京": "京",
}


def misspelt(levels: list[str], rng: random.Random) -> list[str]:
    """One level with a slip of the finger: the others still say which place is meant."""
    index = rng.randrange(len(levels))
    level = levels[index]
    if len(level) < 3:
        return levels
    dice = rng.random()
    known = [i for i, c in enumerate(level) if c in CONFUSED]
    if dice < 0.6 and known:
        cut = rng.choice(known)
        level = level[:cut] + CONFUSED[level[cut]] + level[cut + 1 :]
    elif dice < 0.85:
        cut = rng.randrange(len(level))
        level = level[:cut] + level[cut] + level[cut:]
    else:
        level = level[:-1] + "是" if level[-1] == "市" else level[:-1] + level[-1]
    return [*levels[:index], level, *levels[index + 1 :]]
