"""The lists that address lines are made of, gathered once from the data folder into one JSON file.

    python -m copydesk.training.addresses.material --data DIR --out material.json.gz

Real addresses (company addresses, waybills and lines labelled by rule, all marked for training) are split into their
divisions and the rest, so that the rest can be put behind other labels, names and separators. Evaluation files are not read.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copydesk.training.addresses.divisions import WITHOUT_DISTRICTS, Divisions


@dataclass(frozen=True)
class Material:
    """Pools of parts. `real` holds `(province, city, district, location)` of real addresses."""

    divisions: Divisions
    roads: tuple[str, ...]
    pois: tuple[str, ...]
    place_names: tuple[str, ...]
    real: tuple[tuple[str, str, str, str], ...]
    waybills: tuple[dict[str, Any], ...]
    surnames: tuple[str, ...]
    given_names: tuple[str, ...]
    given_characters: tuple[str, ...]
    area_codes: tuple[str, ...]
    mobile_prefixes: tuple[str, ...]
    companies: tuple[str, ...]
    traditional: dict[int, str]
    """Character (code point) -> its traditional form."""


@functools.cache
def load(path: Path) -> Material:
    """Read the file that `main` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        raw = json.load(file)
    return Material(
        divisions=Divisions(raw["provinces"]),
        roads=tuple(raw["roads"]),
        pois=tuple(raw["pois"]),
        place_names=tuple(raw["place_names"]),
        real=tuple(tuple(row) for row in raw["real"]),
        waybills=tuple(raw["waybills"]),
        surnames=tuple(raw["surnames"]),
        given_names=tuple(raw["given_names"]),
        given_characters=tuple(raw["given_characters"]),
        area_codes=tuple(raw["area_codes"]),
        mobile_prefixes=tuple(raw["mobile_prefixes"]),
        companies=tuple(raw["companies"]),
        traditional={int(code): form for code, form in raw["traditional"].items()},
    )


def read_lines(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_lines(path)]


LOCATION = re.compile(r"^[一-鿿A-Za-z0-9号()（）#\-—、·.&+/ 　]{3,46}$")


def split_company_addresses(lines: list[str], divisions: Divisions) -> Iterator[tuple[str, str, str, str]]:
    """Divisions and rest of those addresses that start with full names; the others are left out."""
    provinces = sorted(set(divisions.province_of.values()), key=len, reverse=True)
    short = {p.removesuffix("省").removesuffix("市"): p for p in provinces if p[-1] in "省市"}
    for line in lines:
        rest, province, city, district = line, "", "", ""
        for name in provinces:
            if rest.startswith(name):
                province, rest = name, rest[len(name) :]
                break
        else:
            for form, name in short.items():
                if rest.startswith(form) and name[:-1] + "市" != name and not rest.startswith(form + "市"):
                    province, rest = name, rest[len(form) :]
                    break
        if province in ("北京市", "上海市", "天津市", "重庆市"):
            city = province
            rest = rest.removeprefix(province)
        else:
            for name in divisions.cities:
                if rest.startswith(name):
                    city, rest = name, rest[len(name) :]
                    break
        if not city:
            continue
        province = divisions.province_of[city]
        for place in sorted(divisions.by_city[city], key=lambda place: -len(place.district)):
            if place.district and rest.startswith(place.district):
                district, rest = place.district, rest[len(place.district) :]
                break
        rest = rest.strip(" ,，。.;；:：\t")
        if (
            (district or city in WITHOUT_DISTRICTS)
            and LOCATION.match(rest)
            and not re.search(r"\d{7}|市.{0,4}区|电话|邮编", rest)
        ):
            yield province, city, district, rest


def traditional_forms(characters: set[str]) -> dict[str, str]:
    """Traditional form of each character, by OpenCC's tables (package opencc-python-reimplemented, training only)."""
    from opencc import OpenCC

    convert = OpenCC("s2t").convert
    pairs = {character: convert(character) for character in sorted(characters)}
    return {str(ord(a)): b for a, b in pairs.items() if a != b and len(b) == 1}


def gather(data: Path) -> dict[str, Any]:
    """Everything that `Material` holds, as plain JSON."""
    generator = data / "gen"
    with gzip.open(data / "divisions.json.gz", "rt", encoding="utf-8") as file:
        provinces = json.load(file)["provinces"]
    divisions = Divisions(provinces)
    waybills = read_rows(data / "address" / "waybill_train.jsonl")
    for row in waybills:
        expected = row["expected"]
        # The convention: a unit directly under its province is the city; its district is empty.
        if expected["district"] == expected["city"]:
            expected["district"] = ""
    labelled = [
        row
        for row in read_rows(data / "address" / "rule_labelled.jsonl")
        if "district" not in row.get("unlabelled", ())
    ]
    real = list(split_company_addresses(read_lines(generator / "company_addresses.txt.gz"), divisions))
    for row in waybills + labelled:
        expected = row["expected"]
        location = expected["specific_location"]
        if (
            expected["city"]
            and 2 <= len(location) <= 46
            and not any(
                location.startswith(expected[field]) for field in ("province", "city", "district") if expected[field]
            )
        ):
            real.append((expected["province"], expected["city"], expected["district"], location))
    person = json.loads((generator / "faker_zh_CN_person.json").read_text(encoding="utf-8"))
    company = json.loads((generator / "faker_zh_CN_company.json").read_text(encoding="utf-8"))
    phone = json.loads((generator / "faker_zh_CN_phone_number.json").read_text(encoding="utf-8"))
    given = sorted({name for key, names in person.items() if key.startswith("first_name") for name in names})
    place_names = [
        name
        for name in read_lines(generator / "thuocl_diming.txt.gz")
        if 2 <= len(name) <= 9 and not re.search(r"省|自治区|市$|县$|国$|洲$", name)
    ]
    roads = read_lines(generator / "roads.txt")
    pois = read_lines(generator / "pois.txt")
    ancient = [line.split("\t")[0] for line in read_lines(generator / "given_pairs_ancient.txt")[:6000]]
    from opencc import OpenCC

    to_simplified = OpenCC("t2s").convert
    given += sorted({to_simplified(name) for name in ancient})
    given_characters = sorted(
        {character for row in waybills for character in row["expected"]["name"][1:]}
        | set(
            to_simplified(
                "".join(line.split("\t")[0] for line in read_lines(generator / "given_chars_ancient.txt")[:1800])
            )
        )
    )
    characters = {
        character
        for text in (json.dumps(provinces, ensure_ascii=False), "".join(roads), "".join(pois))
        for character in text
    }
    characters |= set("".join(place_names)) | set("".join(given)) | set("".join(read_lines(generator / "surnames.txt")))
    return {
        "provinces": provinces,
        "roads": roads,
        "pois": pois,
        "place_names": place_names,
        "real": sorted(set(real)),
        "waybills": [{"text": row["text"], "expected": row["expected"]} for row in waybills],
        "surnames": read_lines(generator / "surnames.txt"),
        "given_names": given,
        "given_characters": given_characters,
        "area_codes": [line.split()[0] for line in read_lines(generator / "landline_area_codes.txt")],
        "mobile_prefixes": [str(prefix) for prefix in phone["phonenumber_prefixes"]],
        "companies": company["company_prefixes"],
        "traditional": traditional_forms(characters),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Gather the material of the address generator.")
    parser.add_argument("--data", type=Path, required=True, help="folder with divisions.json.gz, gen/ and address/")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    raw = gather(options.data)
    text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
    with open(options.out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as stream:
        stream.write(text.encode())
    print({name: len(part) for name, part in raw.items()})


if __name__ == "__main__":
    main()
