"""A place's divisions as a text names them, and the fields that this implies.

Labels follow the conventions of the address task: full official names, filled in where the text implies them uniquely,
never guessed where it does not. Knows nothing of the rest of a line.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from copydesk.training.addresses.divisions import (
    ISLANDS,
    WITHOUT_DISTRICTS,
    Divisions,
    Place,
    bare_name,
    rank_form,
)
from copydesk.training.addresses.history import OLD_CITIES


@dataclass(frozen=True, slots=True)
class Written:
    """What stands in the text for the divisions, in order, and the fields that it implies."""

    levels: tuple[str, ...]
    province: str
    city: str
    district: str


REGIONS = {"香港特别行政区": ("香港岛", "九龙", "新界"), "澳门特别行政区": ("澳门半岛", "氹仔", "路环")}
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
        place = harder(place, divisions, rng)
    island = place.province in ("台湾省", *ISLANDS)
    municipality = place.province == place.city
    kept = kept_levels(place, dice, style, island)
    full_only = style != "any" or rng.random() < 0.72
    written = (
        municipality_levels(place, kept, style, rng)
        if municipality
        else upper_levels(place, divisions, kept, full_only, rng)
    )
    if kept.district:
        written = with_district(written, place, divisions, kept, full_only, rng)
    levels = list(written.levels)
    if not municipality and kept.city and kept.district and not place.zone and not island and rng.random() < 0.006:
        for old, now in OLD_CITIES.items():
            if now == place.city:
                levels = [old if level == place.city else level for level in levels]
    if style == "any" and divisions.moved and rng.random() < 0.002:
        old_province, prefecture, county, now = rng.choice(divisions.moved)
        levels = [old_province, prefecture, county] if rng.random() < 0.5 else [prefecture, county]
        return Written(tuple(levels), old_province, now, county)
    if style == "any" and len(levels) > 1 and rng.random() < 0.012:
        levels = misspelt(levels, rng)
    return replace(written, levels=tuple(levels))


def harder(place: Place, divisions: Divisions, rng: random.Random) -> Place:
    """For a district without its city: recalled, not copied, so the hard ones are drawn more often."""
    swap = rng.random()
    if swap < 0.2:
        return rng.choice(divisions.ambiguous)
    if swap < 0.3:
        return rng.choice(divisions.namesakes or divisions.places)
    if swap < 0.55:
        return rng.choice(divisions.county_cities or divisions.places)
    return place


@dataclass(frozen=True, slots=True)
class Kept:
    """Which levels a text names."""

    province: bool
    city: bool
    district: bool


def kept_levels(place: Place, dice: float, style: str, island: bool) -> Kept:
    district = bool(place.district)
    alone = district and not place.zone and not island
    if style == "full" or (style == "any" and (dice < 0.36 or dice >= 0.985)):
        return Kept(True, True, district)
    if style == "city" or dice < 0.58:
        return Kept(False, True, district)
    if dice < 0.75 and alone:
        return Kept(False, False, True)
    if dice < 0.82 and alone:
        return Kept(True, False, True)
    if dice < 0.91:
        return Kept(True, True, False)
    return Kept(False, True, False) if dice < 0.97 else Kept(True, False, False)


def municipality_levels(place: Place, kept: Kept, style: str, rng: random.Random) -> Written:
    """A municipality stands once or twice, short or long."""
    city, island = place.city, place.province in ISLANDS
    forms = [[city]] * 5 + [[bare_province(city), city]] * 4 + [[city, city]] * 2 + [[bare_province(city)]] * 2
    if style == "city":
        forms = [[city]]
    if style == "full" and not island:
        forms = [[bare_province(city), city]] * 6 + [[city]] + [[city, city]]
    if island:
        forms = [[city]] * 3 + [[bare_province(city)]] * 2
        region = REGIONS[city]
        if rng.random() < 0.3:
            forms = [[city, rng.choice(region)]]
    named = kept.province or kept.city
    levels = list(rng.choice(forms)) if named else []
    if not island and levels and levels[-1] == city and kept.district and style == "any" and rng.random() < 0.06:
        levels.append("市辖区")
    elif city == "重庆市" and levels and place.district.endswith("县") and kept.district and rng.random() < 0.12:
        levels = [*levels[:-1], "重庆市县"]
    return Written(tuple(levels), place.province if named else "", city if named else "", "")


def upper_levels(place: Place, divisions: Divisions, kept: Kept, full_only: bool, rng: random.Random) -> Written:
    """Province and city of an ordinary place, as far as they are named."""
    province, city = place.province, place.city
    levels: list[str] = []
    if kept.province:
        form = province if full_only or rng.random() < 0.5 else province_form(province, rng)
        if province == "台湾省":
            form = "台湾" if rng.random() < 0.6 else province
        levels.append(form)
    if not kept.city:
        return Written(tuple(levels), province if kept.province else "", "", "")
    form = city if full_only else city_form(city, divisions, kept, rng)
    if not place.district and len(divisions.by_city[city]) == 1 and rng.random() < 0.25:
        filler = {"海南省": "海南省省直辖县级行政区划", "新疆维吾尔自治区": "自治区直辖县级行政区划"}.get(
            province, "省直辖县级行政区划" if rng.random() < 0.7 else "省直辖县"
        )
        if city not in WITHOUT_DISTRICTS:
            levels.append(filler)
            if rng.random() < 0.1:
                levels = [province, province]
    levels.append(form)
    if not place.district and form == city and rng.random() < 0.12:
        # A picker that has no district to offer repeats the city.
        levels.append(city)
    return Written(tuple(levels), province, city, "")


def city_form(city: str, divisions: Divisions, kept: Kept, rng: random.Random) -> str:
    """A city's name in full or short, short only where it still says which city."""
    dice = rng.random()
    if dice < 0.35:
        form = city
    elif dice < 0.36 or dice > 0.93:
        form = SPOKEN.get(city, city)
    else:
        form = rank_form(city) if dice < 0.5 else bare_name(city)
    if form != city and len(divisions.meanings[form]) > 1 and not kept.province:
        form = city
    # One character alone says nothing.
    return city if form == bare_name(city) and len(form) < 2 else form


def with_district(
    upper: Written, place: Place, divisions: Divisions, kept: Kept, full_only: bool, rng: random.Random
) -> Written:
    """The district behind what stands, short only where that is clear; alone it implies what it can."""
    form = place.district
    if not full_only and not place.zone:
        dice = rng.random()
        if dice < 0.25:
            form = rank_form(place.district)
        elif dice < 0.45 and len(bare_name(place.district)) >= 2:
            form = bare_name(place.district)
    if form != place.district:
        context = {
            meaning
            for meaning in divisions.meanings[form]
            if (not kept.province or meaning[0] == place.province)
            and (not (kept.city and upper.city) or meaning[1] == place.city)
        }
        if context != {(place.province, place.city, place.district)}:
            form = place.district
    province, city = upper.province, upper.city
    if not city:
        implied_province, city = divisions.implied(form, province)
        province = province or implied_province
    return Written((*upper.levels, form), province, city, place.district)


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
