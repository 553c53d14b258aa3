"""How people put a recipient into one text: orders, separators, labels, lines, chatter, repeats, noise.

A layout gets the parts as they are written and returns the text; what of the parts is kept, is decided where they are made.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from copydesk.training.addresses.labels import (
    ADDRESS_LABELS,
    BRACKETS,
    CLOSINGS,
    COLONS,
    DETAIL_LABELS,
    EMOJI,
    NAME_LABELS,
    NAME_PHRASES,
    OPENINGS,
    PHONE_LABELS,
    RECEIVED,
    REGION_LABELS,
    SEPARATORS,
    TUTORIAL_SEPARATORS,
)


def labelled(labels: Sequence[str], value: str, rng: random.Random, colon: str | None = None) -> str:
    label = rng.choice(labels)
    if colon is None:
        colon = rng.choice(COLONS)
    if label[0].isascii() and colon in ("是", "为", "是：", ""):
        colon = "：" if rng.random() < 0.7 else ":"
    if label in ("给", "寄给", "收", "寄到", "送到", "寄往"):
        colon = rng.choice(("", "", "：")) if label != "收" else "："
    return f"{label}{colon}{value}"


def waybill(address: str, name: str, phone: str, rng: random.Random) -> str:
    """The three parts in any order, nothing between them."""
    parts = [address, name, phone]
    rng.shuffle(parts)
    return "".join(parts)


def tutorial(address: str, name: str, phone: str, rng: random.Random) -> str:
    """Three parts in any order, one separator, labels (of many wordings) on name and phone."""
    separator = rng.choice(TUTORIAL_SEPARATORS)
    name_labels = ("收件人", "收货人", "接收人", "接收者", "收件者", "联系人", "姓名", "收件", "给")
    phone_labels = (
        "电话",
        "手机",
        "手机号",
        "手机号码",
        "联系电话",
        "联系方式",
        "电话号码",
        "号码",
        "mobile",
        "phone",
        "tel",
        "TEL",
        "call",
        "contact",
        "MOBILE",
    )
    colons = ("：", "：", ":", "", "是", "为", "：")
    if rng.random() < 0.88:
        label = rng.choice(name_labels)
        colon = "" if label == "给" else rng.choice(colons)
        colon = ":" if label == "收件" else colon
        name = label + colon + name
    if rng.random() < 0.93:
        label = rng.choice(phone_labels)
        colon = rng.choice(("：", "：", ":")) if label.isascii() else rng.choice(colons)
        phone = label + colon + phone
    parts = [address, name, phone]
    rng.shuffle(parts)
    return separator.join(parts)


def form(regions: str, location: str, name: str, phone: str, rng: random.Random, levels: Sequence[str] = ()) -> str:
    """A filled-in form: one labelled item a line (or all glued), the region and the detailed address apart.

    With three `levels`, province, city and district may stand in lines of their own.
    """
    colon = rng.choice(("：", ": ", ":", "：", "", " "))
    items: list[str] = []
    if rng.random() < 0.07:
        return bracketed_form(regions, location, name, phone, rng)
    if name:
        items.append(labelled(NAME_LABELS[:16], name, rng, colon))
    if phone:
        items.append(labelled(PHONE_LABELS[:12], phone, rng, colon))
    if len(levels) == 3 and location and rng.random() < 0.14:
        marks = rng.choice(
            (
                ("省", "市", "区"),
                ("省份", "城市", "区县"),
                ("省", "市", "区/县"),
                ("Province", "City", "District"),
                ("所在省", "所在市", "所在区"),
            )
        )
        colon = colon or "："
        pair = [f"{mark}{colon}{level}" for mark, level in zip(marks, levels, strict=True)]
        pair.append(labelled(DETAIL_LABELS, location, rng, colon))
    elif rng.random() < 0.55 and regions and location:
        pair = [labelled(REGION_LABELS, regions, rng, colon), labelled(DETAIL_LABELS, location, rng, colon)]
    else:
        pair = [labelled(ADDRESS_LABELS, regions + location, rng, colon)] if regions or location else []
    items = items + pair if rng.random() < 0.7 else pair + items
    separator = rng.choice(("\n", "\n", "\n", "\r\n", "，", " ", "", "；", ", ", "\t", " | ", "  \n"))
    if separator == "" and colon == "":
        separator = rng.choice(("", " "))
    return separator.join(items)


def bracketed_form(regions: str, location: str, name: str, phone: str, rng: random.Random) -> str:
    """【收件人】...【电话】...: each label in brackets, one a line or all in a row."""
    mark = rng.choice(("【】", "【】", "[]", "「」", "（）"))
    items = [
        f"{mark[0]}{rng.choice(labels)}{mark[1]}{value}"
        for labels, value in (
            (REGION_LABELS + ADDRESS_LABELS[:6], regions),
            (DETAIL_LABELS, location),
            (NAME_LABELS[:16], name),
            (PHONE_LABELS[:12], phone),
        )
        if value
    ]
    if rng.random() < 0.5:
        items = items[2:] + items[:2]
    return rng.choice(("\n", "\n", " ", "", "，")).join(items)


def loose(address: str, name: str, phone: str, extras: Sequence[str], rng: random.Random) -> str:
    """Parts in any order with one or several separators; now and then a label; extras anywhere behind or between."""
    labels = rng.random()
    if name and (labels < 0.25 or rng.random() < 0.1):
        name = labelled(NAME_LABELS, name, rng)
    elif name and rng.random() < 0.05:
        name += rng.choice(RECEIVED)
    elif name and rng.random() < 0.04:
        name = rng.choice(NAME_PHRASES).format(name)
    if phone and (labels < 0.25 or rng.random() < 0.1):
        phone = labelled(PHONE_LABELS, phone, rng)
    if address and (labels < 0.18 or rng.random() < 0.12):
        address = labelled(ADDRESS_LABELS, address, rng)
    parts = [part for part in (address, name, phone) if part]
    rng.shuffle(parts)
    if name and phone and rng.random() < 0.6:
        # Name and phone usually stand together, often with nothing between them.
        pair = [name, phone] if rng.random() < 0.65 else [phone, name]
        pair = ["".join(pair)] if rng.random() < 0.4 and not (pair[0][-1].isascii() and pair[1][0].isascii()) else pair
        parts = [address, *pair] if rng.random() < 0.6 else [*pair, address]
        parts = [part for part in parts if part]
    if rng.random() < 0.03:
        mark = rng.choice(BRACKETS)
        parts = [mark[0] + part + mark[1] for part in parts]
    elif rng.random() < 0.03:
        gap = rng.choice(("", " "))
        parts = [rng.choice(EMOJI) + gap + part if rng.random() < 0.8 else part for part in parts]
    for extra in extras:
        parts.insert(rng.choice((len(parts), len(parts), 0, rng.randrange(len(parts) + 1))), extra)
    separator = rng.choice(SEPARATORS)
    text = parts[0]
    for part in parts[1:]:
        if rng.random() < 0.15:
            separator = rng.choice(SEPARATORS)
        between = separator
        if between == "" and text[-1:].isascii() and part[:1].isascii() and text[-1:].isalnum() and part[:1].isalnum():
            # Two runs of digits or letters may only be glued where a phone of eleven digits still stands out.
            between = " " if rng.random() < 0.8 or not (phone.isdigit() and len(phone) == 11) else ""
        text += between + part
    return text


def comma_row(regions: Sequence[str], location: str, name: str, phone: str, postcode: str, rng: random.Random) -> str:
    """A row of a shop's export: name,phone,province city district location,postcode."""
    comma = rng.choice((",", "，", ", ", ","))
    address = " ".join([*regions, location] if location else regions)
    items = [item for item in (name, phone, address) if item]
    if rng.random() < 0.3:
        rng.shuffle(items)
    if postcode:
        items.append(postcode)
    return comma.join(items)


def with_chatter(text: str, rng: random.Random) -> str:
    if rng.random() < 0.6:
        text = rng.choice(OPENINGS) + text
    if rng.random() < 0.6:
        text += rng.choice(CLOSINGS)
    if rng.random() < 0.1:
        text += rng.choice(("", " ")) + rng.choice(EMOJI) * rng.randrange(1, 4)
    return text


FULL_WIDTH = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F) if chr(code).isalnum()}
RADICALS = str.maketrans("西长门马车见贝页风飞鸟龙黄青食民户文山大金", "⻄⻓⻔⻢⻋⻅⻉⻚⻛⻜⻦⻰⻩⻘⻝⺠⼾⽂⼭⼤⾦")
"""Radicals that stand for characters in text copied from some documents; NFKC does not map all of them back."""


def full_width(text: str, hyphens: bool = False) -> str:
    """ASCII letters and digits in their full-width forms; `hyphens` and spaces too."""
    text = text.translate(FULL_WIDTH)
    return text.replace("-", "－").replace(" ", "　") if hyphens else text
