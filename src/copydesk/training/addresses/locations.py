"""The rest of an address: towns, villages, roads, numbers, buildings, landmarks; real ones and made ones.

Knows nothing of the divisions' names or of the line around it.
"""

from __future__ import annotations

import random

from copydesk.training.addresses.divisions import Place, bare_name
from copydesk.training.addresses.landmarks import (
    COMPLEX,
    COMPLEX_NAMES,
    DIRECTIONS,
    HEADS,
    LATIN_PARTS,
    NAMED_AFTER,
    NOTES,
    NUMERALS,
    QUOTES,
    SYMBOLS,
    VILLAGE,
    VILLAGE_TAIL,
)
from copydesk.training.addresses.material import Material
from copydesk.training.addresses.people import HAN


def building(rng: random.Random) -> str:
    """A building, entrance, floor, room: 3号楼2单元501室, B座12层, 8-2-301, ..."""
    dice = rng.random()
    number = rng.randrange(1, 40)
    floor = rng.randrange(1, 34)
    room = f"{floor}{rng.randrange(1, 20):02d}"
    letter = rng.choice("ABCDEFGH")
    block = rng.choice(("号楼", "栋", "幢", "座", "号"))
    if dice < 0.20:
        return f"{number}{block}{rng.randrange(1, 7)}单元{room}" + rng.choice(("室", "", "", "号", "户"))
    if dice < 0.32:
        return f"{letter}座{floor}{rng.choice(('层', '楼'))}" + rng.choice(("", "", room + "室"))
    if dice < 0.42:
        return f"{letter}座{room}" + rng.choice(("室", "", "房"))
    if dice < 0.52:
        return f"{number}{block}" + rng.choice(
            ("", room, room + "室", f"{letter}座", f"{floor}楼", f"{rng.randrange(1, 7)}单元")
        )
    if dice < 0.60:
        return f"{floor}{rng.choice(('楼', '层', 'F', '楼' + letter))}"
    if dice < 0.70:
        return f"{number}-{rng.randrange(1, 7)}-{room}"
    if dice < 0.76:
        return (
            f"{letter}{number}"
            + rng.choice(("栋", "座", "幢", ""))
            + rng.choice(("", room, f"{rng.randrange(1, 5)}单元{room}"))
        )
    if dice < 0.82:
        return f"{rng.choice(NUMERALS)}{block[:1]}{rng.choice(NUMERALS)}单元{rng.choice((room, rng.choice(NUMERALS) + '楼'))}"
    if dice < 0.88:
        return f"{letter}区{number}{block}{room}"
    if dice < 0.92:
        return f"{rng.choice(NUMERALS)}期{number}栋{room}"
    if dice < 0.95:
        return f"{number}-{number + rng.randrange(1, 9)}号" + rng.choice(("", "商铺", "门面", "店", "铺"))
    if dice < 0.97:
        return f"{room},{int(room) + 1}室"
    if dice < 0.985:
        return rng.choice(
            (
                f"{rng.randrange(2005, 2026)}级",
                f"高{rng.choice('一二三')}{rng.randrange(1, 20)}班",
                f"{rng.randrange(1, 10)}年级{rng.randrange(1, 9)}班",
                f"{letter}栋宿舍{room}",
                "计算机学院",
                "分院",
                "一层门市",
                f"{rng.choice(NUMERALS)}期",
                "家属楼",
                f"{number}号门",
            )
        )
    return f"{number}{rng.choice('甲乙丙丁东西')}{rng.choice(('', '号'))}{rng.choice(('', room))}"


def road(material: Material, rng: random.Random) -> str:
    dice = rng.random()
    if dice < 0.72:
        name = rng.choice(material.roads)
    elif dice < 0.77:
        # Roads are named after cities elsewhere.
        name = bare_name(rng.choice(material.divisions.cities)) + rng.choice(
            ("路", "路", "东路", "西路", "街", "大道", "中路")
        )
    else:
        stem = rng.choice(
            (
                "人民",
                "解放",
                "建设",
                "中山",
                "长江",
                "黄河",
                "文化",
                "胜利",
                "和平",
                "新华",
                "振兴",
                "朝阳",
                "光明",
                "珠江",
                "迎宾",
                "环城",
                "滨河",
                "学院",
                "工业",
                "创业",
                "科技",
                "府前",
                "站前",
                "民族",
                "青年",
                "友谊",
            )
        )
        name = (
            stem
            + rng.choice(("", "", "东", "西", "南", "北", "中"))
            + rng.choice(("路", "路", "街", "大道", "大街", "巷", "道", "胡同", "支路"))
        )
    if rng.random() < 0.08:
        name += (
            rng.choice("一二三四五六") + "段"
            if rng.random() < 0.6
            else rng.choice(("东段", "西段", "中段", "南段", "北段", "北首", "南头"))
        )
    return name


def house(rng: random.Random) -> str:
    number = rng.choice(
        (rng.randrange(1, 100), rng.randrange(100, 1000), rng.randrange(1, 300), rng.randrange(1000, 4000))
    )
    tail = rng.choice(
        ("号",) * 12
        + (
            "号院",
            "弄",
            f"号附{rng.randrange(1, 20)}号",
            f"-{rng.randrange(1, 30)}号",
            f"之{rng.choice(NUMERALS)}号",
            f"巷{rng.randrange(1, 60)}号",
            f"弄{rng.randrange(1, 60)}号",
        )
    )
    if rng.random() < 0.04:
        return rng.choice(NUMERALS) + rng.choice(("十", "百", "")) + rng.choice(NUMERALS) + "号"
    return f"{number}{tail}"


def estate(material: Material, rng: random.Random) -> str:
    dice = rng.random()
    if dice < 0.35:
        return rng.choice(material.pois)
    if dice < 0.45:
        return rng.choice(material.companies) + rng.choice(
            ("有限公司", "科技有限公司", "贸易公司", "厂", "超市", "大厦", "工业园", "食品厂", "店")
        )
    if dice < 0.5:
        # Latin in names is part of them, also where a person's name follows.
        latin = rng.choice(LATIN_PARTS)
        return rng.choice(COMPLEX_NAMES) + latin if rng.random() < 0.7 else latin + rng.choice(COMPLEX)
    name = rng.choice(COMPLEX_NAMES)
    if rng.random() < 0.3:
        name += rng.choice(COMPLEX_NAMES)
    return name + rng.choice(COMPLEX)


def village(material: Material, rng: random.Random) -> str:
    if rng.random() < 0.4:
        name = rng.choice(material.place_names)
        name += "" if name[-1] in "村屯庄寨湾沟坪里营街路" else "村"
    else:
        name = rng.choice(VILLAGE) + rng.choice(VILLAGE_TAIL)
    if rng.random() < 0.06:
        troop = rng.choice((str(rng.randrange(1, 190)), rng.choice(NUMERALS) + "十" + rng.choice(NUMERALS)))
        return f"{troop}团{rng.choice((str(rng.randrange(1, 25)), rng.choice(NUMERALS)))}连" + rng.choice(
            ("", "", "队部", "一区", f"{rng.randrange(1, 9)}栋")
        )
    if rng.random() < 0.04:
        return f"{rng.choice(('', 'G', 'S'))}{rng.randrange(101, 330)}国道{rng.randrange(1, 2000)}公里" + rng.choice(
            ("处", "", "路北", "加油站旁")
        )
    dice = rng.random()
    if dice < 0.3:
        return name + rng.choice(
            (
                f"{rng.randrange(1, 20)}组",
                f"{rng.choice(NUMERALS)}组",
                f"{rng.randrange(1, 20)}队",
                f"{rng.choice(NUMERALS)}社",
                f"{rng.choice(NUMERALS)}巷{rng.randrange(1, 50)}号",
            )
        )
    if dice < 0.5:
        return name + f"{rng.randrange(1, 300)}号"
    return name


def made(place: Place, material: Material, rng: random.Random) -> str:
    """A location of made parts."""
    parts: list[str] = []
    if place.streets and rng.random() < 0.38:
        parts.append(rng.choice(place.streets))
    dice = rng.random()
    if dice < 0.50:
        parts.append(road(material, rng) + (house(rng) if rng.random() < 0.8 else ""))
    elif dice < 0.58:
        parts.append(
            road(material, rng)
            + rng.choice(("与", "和", "、", ""))
            + road(material, rng)
            + rng.choice(("交汇处", "交叉口", "交口", "路口", "十字", "交界处"))
            + (rng.choice(DIRECTIONS) if rng.random() < 0.5 else "")
        )
    elif dice < 0.75:
        parts.append(village(material, rng))
    elif dice < 0.85:
        parts.append(rng.choice(material.place_names))
    if rng.random() < 0.55 or not parts:
        joint = " " if parts and rng.random() < 0.12 else ""
        parts.append(joint + estate(material, rng))
    if rng.random() < 0.6:
        joint = " " if rng.random() < 0.05 else ""
        parts.append(joint + building(rng))
    if rng.random() < 0.18:
        parts.append(rng.choice(DIRECTIONS) if rng.random() < 0.6 else estate(material, rng) + rng.choice(DIRECTIONS))
    return "".join(parts).strip()


def spaced_number(text: str, rng: random.Random) -> str:
    """长兴街235号 -> 长兴街 235 号."""
    out: list[str] = []
    for index, character in enumerate(text):
        previous = text[index - 1] if index else ""
        if (
            index
            and character.isdigit() != previous.isdigit()
            and (character.isdigit() or previous.isdigit())
            and not (character + previous).strip("0123456789").isascii()
        ):
            out.append(" ")
        out.append(character)
    return "".join(out)


def draw_location(place: Place, material: Material, rng: random.Random, style: str = "any") -> str:
    """A location as it stands in the text. `style` `plain` has no brackets, commas or inner spaces."""
    dice = rng.random()
    if dice < 0.42:
        location = rng.choice(material.real)[3]
    elif dice < 0.47:
        location = rng.choice(HEADS) + (building(rng) if rng.random() < 0.4 else "")
    elif dice < 0.53:
        location = rng.choice(material.place_names) + (estate(material, rng) if rng.random() < 0.4 else "")
    else:
        location = made(place, material, rng)
    if len(location) > 4 and rng.random() < 0.02:
        # A typing error, or a rare character: copied as it stands.
        cut = rng.randrange(1, len(location) - 1)
        location = location[:cut] + rng.choice(HAN) + location[cut + rng.randrange(2) :]
    return location if style == "plain" else decorated(location, place, material, rng)


def decorated(location: str, place: Place, material: Material, rng: random.Random) -> str:
    """Now and then with what makes a location hard to cut out: marks, notes, commas, spaces, names of divisions."""
    if rng.random() < 0.025 and len(location) > 4:
        # Any mark may stand inside and is copied.
        cut = rng.randrange(1, len(location) - 1)
        if rng.random() < 0.5:
            mark = rng.choice(QUOTES)
            location = (
                location[:cut]
                + mark[0]
                + rng.choice((rng.choice(COMPLEX_NAMES), estate(material, rng), rng.choice(material.place_names)))
                + mark[1]
                + location[cut:]
            )
        else:
            location = location[:cut] + rng.choice(SYMBOLS) + location[cut:]
    dice = rng.random()
    if dice > 0.997:
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randrange(2, 8)))
    if dice < 0.025:
        location = spaced_number(location, rng)
    elif dice < 0.055:
        location += rng.choice(NOTES)
    elif dice < 0.085 and len(location) > 6:
        location += rng.choice(("，", ",", "、", ", ")) + rng.choice(
            (estate(material, rng), estate(material, rng) + building(rng), "近" + estate(material, rng))
        )
    elif dice < 0.105 and len(location) > 6:
        cut = rng.randrange(2, len(location) - 2)
        inside = location[cut - 1 : cut + 1]
        if not any(c.isascii() for c in inside):
            location = location[:cut] + rng.choice((" ", "，", " ", ",", "-")) + location[cut:]
        if rng.random() < 0.4:
            location += rng.choice((" ", " ", "，")) + rng.choice(
                (estate(material, rng), building(rng), "东区", "西区", "南门", "后勤处", "二期")
            )
    elif dice < 0.12:
        location += rng.choice((" ", "")) + "(" + estate(material, rng) + ")"
    elif dice < 0.135:
        location = location + " " + estate(material, rng)
    elif dice < 0.15 and (place.district or place.city):
        # 大港区大港油田, 攀枝花市东区攀枝花三中: the division's name begins the next name.
        stem = bare_name(place.district or place.city)
        if len(stem) >= 2:
            location = stem + rng.choice(NAMED_AFTER) + location
    elif dice < 0.158:
        # Another city's zone inside this one.
        other = rng.choice(material.divisions.cities)
        location = (
            bare_name(other) + rng.choice(("经济开发区", "工业园", "城", "大厦", "新村", "商会", "广场")) + location
        )
    elif dice < 0.168 and place.district:
        # The city named again in the middle: as written.
        location = village(material, rng) + rng.choice((" ", "，")) + place.city + estate(material, rng)
    elif dice < 0.188 and place.streets:
        location = rng.choice(place.streets) + " " + location
    return location
