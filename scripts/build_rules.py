"""Make the data files of the address rules: divisions with all their written forms, characters, and how names look.

    python scripts/build_rules.py --data DIR --material FILE [--out src/copydesk/drafting/rules/data]

DIR holds `divisions.json.gz` (AreaCity-JsSpider-StatsGov, MIT); FILE is the generator's material as
`python -m copydesk.training.addresses.material` writes it. Needs the extra `train` (OpenCC's tables, Apache-2.0).
The files are the same on every run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from opencc import OpenCC

from copydesk.training.addresses.divisions import WITHOUT_DISTRICTS, bare_name, rank_form
from copydesk.training.addresses.history import MOVED_COUNTIES, NAMED_ZONES, OLD_CITIES, OLD_DISTRICTS
from copydesk.training.addresses.locations import draw_location
from copydesk.training.addresses.material import Material, load
from copydesk.training.addresses.people import COMPOUND, draw_name
from copydesk.training.addresses.written import bare_province

HONG_KONG = (
    "中西区 湾仔区 东区 南区 油尖旺区 深水埗区 九龙城区 黄大仙区 观塘区",
    "荃湾区 屯门区 元朗区 北区 大埔区 沙田区 西贡区 葵青区 离岛区",
)
MACAU = ("花地玛堂区 圣安多尼堂区 大堂区 望德堂区 风顺堂区 嘉模堂区", "圣方济各堂区 花王堂区")
LATER_HISTORY = {"普洱市": "翠云区", "合肥市": "居巢区", "济南市": "莱城区"}
"""City -> districts of the past that the generator's tables do not have."""
NICKNAMES = {"内蒙古自治区": "内蒙", "呼和浩特市": "呼市", "乌鲁木齐市": "乌市"}
RADICALS = "⺠民⺟母⻄西⻅见⻆角⻉贝⻋车⻓长⻔门⻘青⻙韦⻚页⻛风⻜飞⻝食⻢马⻣骨⻤鬼⻥鱼⻦鸟⻨麦⻩黄⻬齐⻰龙⻳龟⼾户"
VARIANTS = "甯宁臺台巿市"
"""Characters that stand for others in copied text, in pairs; OpenCC and NFKC do not map them."""
SAMPLES = 60_000


def divisions(source: dict[str, Any]) -> dict[str, Any]:
    """`{"date", "provinces": {name: {"forms", "cities": {name: {"forms", "districts", "old", "zones"}}}}, ...}`."""
    provinces: dict[str, Any] = {}
    home: dict[str, str] = {}
    for province in source["provinces"]:
        cities: dict[str, Any] = {}
        for city in province["cities"]:
            home[city["name"]] = province["name"]
            names = [district["name"] for district in city["districts"] if district["name"] != city["name"]]
            cities[city["name"]] = {
                "forms": forms(city["name"]),
                "districts": {name: forms(name) for name in names},
                "old": [name for name in old_districts(city["name"]) if name not in names],
                "zones": NAMED_ZONES.get(city["name"], "").split(),
            }
        provinces[province["name"]] = {"forms": province_forms(province["name"]), "cities": cities}
    for region, names in (("香港特别行政区", HONG_KONG), ("澳门特别行政区", MACAU)):
        provinces[region]["cities"][region]["districts"] = {name: forms(name) for name in " ".join(names).split()}
    return {
        "source": source["source"],
        "date": re.findall(r"\d{4}-\d{2}-\d{2}", source["source"])[0],
        "provinces": provinces,
        "undivided": sorted(WITHOUT_DISTRICTS),
        "renamed": {old: [home[now], now] for old, now in (OLD_CITIES | {"莱芜市": "济南市"}).items() if now},
        "abolished": {prefecture: province for province, prefecture, _, _ in MOVED_COUNTIES},
    }


def forms(name: str) -> list[str]:
    """How a city or district is written besides its full name: 恭城县, 恭城."""
    return sorted(
        {rank_form(name), bare_name(name), NICKNAMES.get(name, name)} - {name}, key=lambda form: (-len(form), form)
    )


def old_districts(city: str) -> list[str]:
    return OLD_DISTRICTS.get(city, "").split() + LATER_HISTORY.get(city, "").split()


def province_forms(name: str) -> list[str]:
    bare = bare_province(name)
    others = {bare, NICKNAMES.get(name, bare)}
    if name.endswith("自治区"):
        others |= {bare + "省", bare + "自治区"}
    if name.endswith("特别行政区"):
        others |= {bare + "特区", bare + "市"}
    return sorted(others - {name}, key=lambda form: (-len(form), form))


def characters(names: str) -> str:
    """Pairs of characters, one after the other: a traditional one or a radical, and the simplified one.

    Characters that stand in `names` (乾县) are simplified enough.
    """
    convert = OpenCC("t2s").convert
    pairs = {}
    for code in range(0x4E00, 0xA000):
        simplified = convert(chr(code))
        if len(simplified) == 1 and simplified != chr(code) and chr(code) not in names:
            pairs[chr(code)] = simplified
    for code in range(0x2F00, 0x2FD6):
        character = unicodedata.normalize("NFKC", chr(code))
        pairs[chr(code)] = pairs.get(character, character)
    extra = RADICALS + VARIANTS
    pairs |= dict(zip(extra[::2], extra[1::2], strict=True))
    return "".join(traditional + simplified for traditional, simplified in sorted(pairs.items()))


def people(material: Material) -> dict[str, Any]:
    """Compound surnames, and characters by log-odds: for their place in a name, and as the last of a location."""
    rng = random.Random(0)
    places = [place for place in material.divisions.places if place.district]
    names = []
    locations = [location for _, _, _, location in material.real]
    for _ in range(SAMPLES):
        place = rng.choice(places)
        names.append(draw_name(place.province, material, rng, "plain"))
        locations.append(draw_location(place, material, rng))
    inside = Counter(character for location in locations for character in location[:-1])
    tables = {
        "first": odds(Counter(name[0] for name in names), inside),
        "second": odds(Counter(name[1] for name in names if len(name) > 1), inside),
        "later": odds(Counter(character for name in names for character in name[2:]), inside),
        "end": odds(Counter(location[-1] for location in locations if location), inside),
    }
    return {"compound": sorted(COMPOUND), "odds": tables}


def odds(positive: Counter[str], negative: Counter[str]) -> dict[str, str]:
    """log P(character | positive) / P(character | negative), in tenths, smoothed: characters by score."""
    characters = [c for c in sorted(set(positive) | set(negative)) if "\u4e00" <= c <= "\u9fff"]
    mass, base = sum(positive.values()), sum(negative.values())
    size = len(characters)
    by_score: dict[int, str] = {}
    for character in characters:
        up = (positive[character] + 0.3) / (mass + 0.3 * size)
        down = (negative[character] + 1.5) / (base + 1.5 * size)
        score = round(10 * math.log(up / down))
        by_score[score] = by_score.get(score, "") + character
    return {str(score): by_score[score] for score in sorted(by_score)}


def write(path: Path, text: str) -> None:
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as stream:
        stream.write(text.encode())
    print(f"{path}: {path.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with divisions.json.gz")
    parser.add_argument("--material", type=Path, required=True, help="the address generator's material")
    parser.add_argument("--out", type=Path, default=Path("src/copydesk/drafting/rules/data"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with gzip.open(options.data / "divisions.json.gz", "rt", encoding="utf-8") as file:
        table = divisions(json.load(file))
    names = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    write(options.out / "divisions.json.gz", names)
    write(options.out / "characters.txt.gz", characters(names))
    tables = people(load(options.material))
    write(options.out / "people.json.gz", json.dumps(tables, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
