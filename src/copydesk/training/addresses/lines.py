"""Whole examples: a recipient is drawn, written down in some layout, and labelled by the task's conventions.

`examples(rng, material)` never ends and depends on nothing but its arguments. Knows no tokens and no files.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from copydesk.tasks import builtin
from copydesk.training.addresses import labels, layouts
from copydesk.training.addresses.divisions import Place
from copydesk.training.addresses.locations import draw_location
from copydesk.training.addresses.material import Material
from copydesk.training.addresses.numbers import draw_phone, identity_number, order_number, postcode
from copydesk.training.addresses.people import draw_name
from copydesk.training.addresses.written import Written, write_divisions
from copydesk.training.examples import Example
from copydesk.types import Task

FIELDS = ("province", "city", "district", "specific_location", "name", "phone")
NONE = Written((), "", "", "")


@dataclass(frozen=True, slots=True)
class Recipient:
    """What the text says of one recipient: parts as written, and as the convention keeps them."""

    written: Written
    place: Place
    location: str
    name: str
    phone: str
    kept_phone: str

    def expected(self) -> dict[str, str]:
        return {
            "province": self.written.province,
            "city": self.written.city,
            "district": self.written.district,
            "specific_location": self.location,
            "name": self.name,
            "phone": self.kept_phone,
        }


def draw_place(material: Material, rng: random.Random) -> tuple[Place, str]:
    """A place, and a real location that lies there or ''."""
    if rng.random() < 0.30:
        province, city, district, location = rng.choice(material.real)
        known = [place for place in material.divisions.by_city[city] if place.district == district]
        return (known[0] if known else Place(province, city, district)), location
    return material.divisions.draw(rng), ""


def draw_recipient(
    material: Material,
    rng: random.Random,
    divisions: str = "any",
    location: str = "any",
    name: str = "any",
    phone: str = "any",
) -> Recipient:
    place, real = draw_place(material, rng)
    written = write_divisions(place, material.divisions, rng, divisions)
    spot = real if real and location == "any" else draw_location(place, material, rng, location)
    if not written.district and not written.city:
        # A lone province, or nothing: what follows must not look like a division of it.
        spot = spot.lstrip("市区县")
    as_written, kept = draw_phone(material, rng, phone)
    return Recipient(written, place, spot, draw_name(place.province, material, rng, name), as_written, kept)


def join_levels(levels: tuple[str, ...], rng: random.Random) -> str:
    dice = rng.random()
    separator = (
        ""
        if dice < 0.8
        else " "
        if dice < 0.93
        else rng.choice(("-", "/", ",", "，", "·", " - ", "、", "_", "　", "  "))
    )
    return separator.join(levels)


def waybill_line(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """All glued, as on express waybills; there a district that is named twice stays in the location."""
    recipient = draw_recipient(material, rng, "full" if rng.random() < 0.93 else "any", "plain", "plain", "waybill")
    if rng.random() < 0.85:
        recipient = replace(recipient, location=recipient.location.lower().replace(" ", ""))
    location = recipient.location
    district = recipient.written.district
    if district and rng.random() < 0.035 and not location.startswith(district):
        lead = district if rng.random() < 0.85 else recipient.written.city + district
        location = lead + location
    recipient = replace(recipient, location=location)
    dice = rng.random()
    if dice < 0.004:
        recipient = replace(recipient, written=NONE)
    elif dice < 0.008:
        recipient = replace(recipient, written=NONE, location="")
    elif dice < 0.011:
        recipient = replace(recipient, location="")
    address = "".join(recipient.written.levels) + recipient.location
    text = layouts.waybill(address, recipient.name, recipient.phone, rng)
    return text, recipient.expected()


def tutorial_line(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """City, district and a tidy location; labelled name and phone; one separator."""
    recipient = draw_recipient(material, rng, "city" if rng.random() < 0.9 else "any", "any", "plain", "tutorial")
    address = "".join(recipient.written.levels) + recipient.location
    return layouts.tutorial(address, recipient.name, recipient.phone, rng), recipient.expected()


def repeated_address(recipient: Recipient, rng: random.Random) -> str | None:
    """The divisions twice, as forms that were filled by a picker and again by hand; None where that makes no sense."""
    levels = recipient.written.levels
    path = "".join(levels)
    if len(levels) < 2:
        if path and path == recipient.written.city and recipient.written.province != path:
            # Units directly under their province come with the picker's filler between.
            lead = recipient.written.province
            return (
                lead * rng.randrange(1, 3)
                + path
                + lead
                + "省直辖县级行政区划"
                + path
                + lead
                + path
                + recipient.location
            )
        return None
    dice = rng.random()
    if dice < 0.5:
        return path + rng.choice(("", " ", "  ")) + path + recipient.location
    if recipient.place.streets and dice < 0.85:
        street = next((s for s in recipient.place.streets if recipient.location.startswith(s)), "")
        if street:
            path = " ".join(levels) + " " if rng.random() < 0.5 else path
            return path + street + rng.choice(("", " ")) + "".join(levels) + recipient.location
    return " ".join(levels) + " " + path + recipient.location


def loose_line(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """Anything that people paste."""
    recipient = varied(draw_recipient(material, rng), material, rng)
    levels, location = recipient.written.levels, recipient.location
    code = postcode(rng) if rng.random() < 0.13 else ""
    extras = other_numbers(rng)
    dice = rng.random()
    if dice < 0.006 and len(levels) > 1 and location and recipient.name and recipient.phone:
        return corrected_form(recipient, material, rng)
    if dice < 0.012 and recipient.place.streets and recipient.written.district and len(levels) > 1:
        # 浙江省 织里镇 吴兴区织里镇...: the street in the city's place, then again where it belongs.
        street = rng.choice(recipient.place.streets)
        text = f"{recipient.place.province} {street} {recipient.place.district}{street}{location}"
        known = material.divisions.implied(recipient.place.district, recipient.place.province)
        if known[1] == recipient.place.city:
            written = Written((), recipient.place.province, recipient.place.city, recipient.place.district)
            recipient = replace(recipient, written=written, location=street + location)
            return layouts.loose(text, recipient.name, recipient.phone, extras, rng), recipient.expected()
    if dice < 0.22:
        return form_line(recipient, rng)
    if dice < 0.30:
        text = layouts.comma_row(levels, location, recipient.name, recipient.phone, code, rng)
        return text, recipient.expected()
    address = None
    if rng.random() < 0.05:
        address = repeated_address(recipient, rng)
    elif recipient.written.district and levels and levels[-1] == recipient.written.district and rng.random() < 0.02:
        # The district twice, in a text whose parts stand apart: once is enough.
        address = join_levels((*levels, levels[-1]), rng) + location
        separate = rng.choice((" ", "  ", "，", "\n", ", "))
        parts = [part for part in (address, recipient.name, recipient.phone) if part]
        if len(parts) > 1 and rng.random() < 0.5:
            parts = [*parts[1:], parts[0]]
        return separate.join(parts), recipient.expected()
    if address is None:
        joint = "" if rng.random() < 0.8 else rng.choice((" ", " ", "  ", "，", ",", "-", "、"))
        if not location or not levels:
            joint = ""
        address = join_levels(levels, rng) + joint + location
    if code and address:
        address = with_postcode(address, code, extras, rng)
    if not address and not recipient.name and not recipient.phone:
        return no_recipient(material, rng)
    if extras and len(extras[0]) > 9 and rng.random() < 0.15 and recipient.phone.isdigit() and address:
        # An order number glued behind the address or before the name.
        glued = extras.pop(0)
        if not address[-1].isascii():
            address += glued
    text = layouts.loose(address, recipient.name, recipient.phone, extras, rng)
    if rng.random() < 0.12:
        text = layouts.with_chatter(text, rng)
    return text, recipient.expected()


def varied(recipient: Recipient, material: Material, rng: random.Random) -> Recipient:
    """With parts missing, in small letters, in strange characters, with a second phone."""
    dice = rng.random()
    if dice < 0.30:
        recipient = replace(recipient, name="", phone="", kept_phone="")
    elif dice < 0.34:
        recipient = replace(recipient, name="")
    elif dice < 0.38:
        recipient = replace(recipient, phone="", kept_phone="")
    elif dice < 0.39:
        recipient = replace(recipient, written=NONE)
    elif dice < 0.40:
        recipient = replace(recipient, written=NONE, location="")
    elif dice < 0.42:
        recipient = replace(recipient, location="")
    if rng.random() < 0.03:
        recipient = replace(recipient, location=recipient.location.lower())
    if rng.random() < 0.004:
        levels = tuple(level.translate(layouts.RADICALS) for level in recipient.written.levels)
        recipient = replace(recipient, written=replace(recipient.written, levels=levels))
    if recipient.phone and rng.random() < 0.03:
        # Two phones: the first counts.
        second = draw_phone(material, rng, "waybill" if rng.random() < 0.7 else "any")[0]
        recipient = replace(recipient, phone=recipient.phone + rng.choice(labels.SECOND_PHONES).format(second))
    return recipient


def other_numbers(rng: random.Random) -> list[str]:
    """Order and identity numbers, labelled or bare; mostly none."""
    extras: list[str] = []
    if rng.random() < 0.05:
        extras.append(
            layouts.labelled(labels.ORDER_LABELS, order_number(rng), rng) if rng.random() < 0.6 else order_number(rng)
        )
    if rng.random() < 0.015:
        number = identity_number(rng)
        extras.append(layouts.labelled(labels.IDENTITY_LABELS, number, rng) if rng.random() < 0.5 else number)
    return extras


def with_postcode(address: str, code: str, extras: list[str], rng: random.Random) -> str:
    """The address with the postcode glued on or in brackets; or the postcode joins the extras."""
    glue = rng.random()
    if glue < 0.45 and not address[-1].isdigit():
        return address + code
    if glue < 0.75:
        extras.append(layouts.labelled(labels.POSTCODE_LABELS, code, rng))
    elif glue < 0.82:
        return address + (f"({rng.choice(labels.POSTCODE_LABELS)}{code})" if rng.random() < 0.5 else f"（{code}）")
    else:
        extras.append(code)
    return address


def form_line(recipient: Recipient, rng: random.Random) -> tuple[str, dict[str, str]]:
    """A filled-in form, perhaps with a street that the region's picker offered too."""
    levels, location = recipient.written.levels, recipient.location
    regions = join_levels(levels, rng)
    if location and recipient.place.streets and rng.random() < 0.4:
        # The street belongs to the location.
        street = rng.choice(recipient.place.streets)
        rest = location if not location.startswith(street) else location[len(street) :]
        if rest:
            picked = regions + rng.choice(("", "", " ")) + street
            text = layouts.form(picked, rest, recipient.name, recipient.phone, rng)
            # Region and detail without a label between them keep what stands between them.
            joined = street + " " + rest if street + " " + rest in text else street + rest
            return text, recipient.expected() | {"specific_location": joined}
    text = layouts.form(regions, location, recipient.name, recipient.phone, rng, levels)
    return text, recipient.expected()


def corrected_form(recipient: Recipient, material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """A stale region before a filled-in form: the form's own region counts."""
    siblings = [p for p in material.divisions.by_city[recipient.place.city] if p.district != recipient.written.district]
    other = rng.choice(siblings).district if siblings else ""
    stale = recipient.place.province + recipient.place.city + other
    separator = rng.choice(("", "", "\n", " "))
    items = [
        layouts.labelled(labels.NAME_LABELS[:8], recipient.name, rng, ""),
        layouts.labelled(labels.PHONE_LABELS[:6], recipient.phone, rng, ""),
        layouts.labelled(labels.REGION_LABELS[:4], "".join(recipient.written.levels), rng, ""),
        layouts.labelled(labels.DETAIL_LABELS[:4], recipient.location, rng, ""),
    ]
    return separator.join([stale, *items]), recipient.expected()


def two_recipients(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """Two in one text: the first is taken."""
    first, expected = rng.choice((tutorial_line, loose_line, waybill_line))(material, rng)
    second, other = rng.choice((tutorial_line, waybill_line, loose_line))(material, rng)
    if not other["name"] and not other["phone"]:
        return first, expected
    if not all(expected[field] for field in ("specific_location", "name", "phone")):
        return first, expected
    joint = rng.choice(
        (
            "\n",
            "\n\n",
            "\n2. ",
            "；另一个：",
            "\n第二个地址：",
            "\r\n",
            " ；还有 ",
            "\n---\n",
            "。另外一份寄：",
            "\n另外：",
            "；",
            ";",
            "; ",
            "。",
            "\n",
        )
    )
    return first + joint + second, expected


def no_recipient(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """A text with no recipient in it: every field is empty."""
    parts = rng.sample(labels.CHATTER, rng.choice((1, 1, 2, 3)))
    if rng.random() < 0.2:
        parts.append(layouts.labelled(labels.ORDER_LABELS, order_number(rng), rng))
    if rng.random() < 0.15:
        # A phone alone among chatter: only the phone is there.
        written, kept = draw_phone(material, rng, "waybill")
        parts.insert(rng.choice((0, len(parts))), written)
        joint = rng.choice(("，", "。", " ", "\n"))
        return joint.join(parts), dict.fromkeys(FIELDS, "") | {"phone": kept}
    text = rng.choice(("，", "。", " ", "！")).join(parts) + rng.choice(("", "。", "？", "！", "~"))
    return text, dict.fromkeys(FIELDS, "")


def distort(text: str, expected: dict[str, str], material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """Traditional characters, full-width ones, radicals, spaces around: the labels follow the conventions."""
    dice = rng.random()
    if dice < 0.02:
        text = text.translate(material.traditional)
        copied = ("specific_location", "name", "phone")
        expected = expected | {field: expected[field].translate(material.traditional) for field in copied}
    elif dice < 0.042:
        text = layouts.full_width(text, hyphens=rng.random() < 0.4)
        if "－" in text:
            expected = expected | {
                "specific_location": expected["specific_location"].replace("-", "－").replace(" ", "　")
            }
    elif dice < 0.062:
        text = rng.choice((" ", "\n", "  ", "　", "")) + text + rng.choice((" ", "\n", "  ", "。", "，", ";", "\r\n"))
    return text, expected


@functools.cache
def task_of(fields: tuple[str, ...]) -> Task:
    return builtin.address(fields)


def draw_fields(rng: random.Random) -> tuple[str, ...]:
    """All six in their order, mostly; also other orders and subsets."""
    if rng.random() < 0.86:
        return FIELDS
    if rng.random() < 0.4:
        return tuple(rng.sample(FIELDS, len(FIELDS)))
    some = rng.sample(FIELDS, rng.randrange(1, len(FIELDS)))
    return tuple(some) if rng.random() < 0.5 else tuple(field for field in FIELDS if field in some)


def draw_line(material: Material, rng: random.Random) -> tuple[str, dict[str, str]]:
    """One text with its six expected fields."""
    dice = rng.random()
    if dice < 0.05:
        row = rng.choice(material.waybills)
        return row["text"], row["expected"]
    if dice < 0.22:
        return waybill_line(material, rng)
    if dice < 0.44:
        line = tutorial_line(material, rng)
    elif dice < 0.955:
        line = loose_line(material, rng)
    elif dice < 0.983:
        line = two_recipients(material, rng)
    else:
        line = no_recipient(material, rng)
    return distort(*line, material, rng)


def examples(rng: random.Random, material: Material) -> Iterator[Example]:
    """Address examples without end."""
    while True:
        text, expected = draw_line(material, rng)
        if not text.strip():
            continue
        fields = draw_fields(rng)
        answer = json.dumps({field: expected[field] for field in fields}, ensure_ascii=False)
        yield Example(task_of(fields), text, answer)
