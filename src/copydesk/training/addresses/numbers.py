"""Phones in every form, and the numbers that are no phones: postcodes, order numbers, identity numbers.

A phone is returned twice: as it stands in the text, and as the convention keeps it (digits and hyphens, no spaces).
"""

from __future__ import annotations

import random

from copydesk.training.addresses.material import Material

CARRIERS = ("SF", "YT", "JT", "ZTO", "EMS", "JD", "STO", "YD", "DPK", "E", "TB", "No.", "")


def digits(count: int, rng: random.Random) -> str:
    return f"{rng.randrange(10**count):0{count}d}"


def mobile(material: Material, rng: random.Random, invented: float = 0.3) -> str:
    """Eleven digits; a share `invented` has prefixes that no operator has, as public test data does."""
    if rng.random() < invented:
        return rng.choice(("2", "2", "2", "1", "0", "9")) + digits(10, rng)
    return rng.choice(material.mobile_prefixes) + digits(8, rng)


def landline(material: Material, rng: random.Random) -> str:
    code = rng.choice(material.area_codes)
    if rng.random() < 0.5:
        code = rng.choice(("010", "021", "022", "023", "024", "025", "027", "028", "0311", "0351", "0431", "0451"))
    return code + "-" + digits(rng.choice((7, 8)), rng)


def draw_phone(material: Material, rng: random.Random, style: str = "any") -> tuple[str, str]:
    """A phone as written and as kept. Styles: `waybill` (a plain mobile), `tutorial` (invented mobiles, landlines), `any`."""
    if style == "waybill":
        phone = mobile(material, rng, 0.0)
        return phone, phone
    if style == "tutorial":
        phone = "2" + rng.choice("0123") + digits(9, rng) if rng.random() < 0.75 else landline(material, rng)
        return phone, phone
    dice = rng.random()
    if dice < 0.62:
        phone = mobile(material, rng)
        return phone, phone
    if dice < 0.72:
        phone = landline(material, rng)
        return phone, phone
    phone = mobile(material, rng, 0.1)
    if dice < 0.78:
        gap = rng.choice((" ", " ", "-", "  ", " "))
        cuts = rng.choice(((3, 7), (3, 7), (3, 6, 9), (4, 8), (5, 8)))
        parts = [phone[a:b] for a, b in zip((0, *cuts), (*cuts, 11), strict=True)]
        written = gap.join(parts)
        return written, written.replace(" ", "").replace(" ", "")
    if dice < 0.82:
        lead = rng.choice(("86-", "+86-", "+86 ", "+86", "86", "0086-", "86 ", "(86)", "+86-"))
        return lead + phone, (lead + phone).replace(" ", "")
    if dice < 0.88:
        tail = rng.choice(("转", "-", "转", "-", " 转 ", "转分机", "分机", "#", "ext", "_", "*")) + digits(
            rng.choice((3, 4, 4, 4)), rng
        )
        base = phone if rng.random() < 0.7 else landline(material, rng)
        return base + tail, (base + tail).replace(" ", "")
    if dice < 0.93:
        stars = rng.choice(("****", "****", "****", "xxxx", "XXXX", "***", "········"[:4], "••••"))
        masked = phone[:3] + stars + phone[7:]
        if rng.random() < 0.2:
            masked = rng.choice((phone[:7] + "****", "*******" + phone[7:], phone[:3] + "*****" + phone[8:]))
        return masked, masked
    if dice < 0.95:
        code, rest = landline(material, rng).split("-")
        written = rng.choice(
            (f"({code}){rest}", f"（{code}）{rest}", f"{code} {rest}", f"{code}{rest}", f"{code}—{rest}")
        )
        return written, written.replace(" ", "")
    if dice < 0.965:
        written = digits(rng.choice((7, 8)), rng)
        return written, written
    if dice < 0.98:
        # One digit too few or too many: as written.
        written = phone[:10] if rng.random() < 0.5 else phone + digits(1, rng)
        return written, written
    written = rng.choice(("400", "800")) + "-" + rng.choice((digits(7, rng), digits(3, rng) + "-" + digits(4, rng)))
    return written, written


def postcode(rng: random.Random) -> str:
    return rng.choice(
        (digits(6, rng), f"{rng.randrange(10, 86)}{digits(2, rng)}00", "000000", f"{rng.randrange(10, 86)}0000")
    )


def order_number(rng: random.Random) -> str:
    carrier = rng.choice(CARRIERS)
    return carrier + digits(rng.choice((12, 13, 14, 15, 18, 10)), rng)


def identity_number(rng: random.Random) -> str:
    year, month, day = rng.randrange(1950, 2012), rng.randrange(1, 13), rng.randrange(1, 29)
    return f"{rng.randrange(110101, 659004)}{year}{month:02d}{day:02d}{digits(3, rng)}{rng.choice('0123456789X')}"
