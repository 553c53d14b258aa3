"""Where a word counts as a label: `收件` before a colon, not in `收件室`.

Knows the words (wordings.py) and their surroundings, not what is done with the values behind them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence, Set
from typing import NamedTuple

from copydesk.drafting.rules.wordings import Kind, wordings

_DECORATION = r"[\ufe0f\u200d👉→>」』)\]】}\"']"
_JOINT = re.compile(
    rf"(?:[1-9](?=\s?[:.]))?(?:\s|{_DECORATION}){{0,3}}"
    rf"(?:[:=]|是|为|就写|填|写|叫|-{{2,4}})*(?:[\s:=.]|{_DECORATION}|[\"'「『])*"
)
"""What joins a label to its value."""
_COLON = re.compile(r"[1-9]?\s{0,3}(?:[:=👉]|是(?!\s*$)|为|叫|-{2})")
_PUNCTUATION = re.compile(r"\s{0,2}[:=👉.]")
_CLOSING = re.compile(r"[」』】\])]")
_DIGITS = re.compile(r"\s{0,3}[(+]?[\d*]")
_CODE = re.compile(r"\s{0,3}[a-z]{0,4}\d")
_NOT_A_PHONE_LABEL = re.compile(r"[城局店街亭卡厂村路]")
_COUNTED = re.compile(r"\d\s*$")
_LETTER = re.compile(r"[a-z]")
_TOUCHING = re.compile(r"\s?[/和及与、]?\s?")


class Word(NamedTuple):
    """An occurrence of a word that may be a label."""

    start: int
    end: int
    kind: Kind


class Label(NamedTuple):
    """Half-open range of a label with what joins it to its value (`：`, `是`)."""

    start: int
    end: int
    kind: Kind


def find(
    plain: str, sure: Sequence[Word], unsure: Sequence[Word], edges: Set[int], divisions: Container[int]
) -> list[Label]:
    """The labels of a folded text, in order.

    `edges` holds the places where a part may begin: the start of the text, behind separators and numbers; `divisions`
    those where a division is written. Labels that touch each other are one, of the last one's kind (收件人 电话).
    """
    found = [word for word in sure if _is_whole(plain, word)]
    found += [word for word in unsure if _is_label(plain, word, edges, divisions)]
    if any(word.kind is Kind.REGION for word in found):
        # The lines of a form: where one says 地区, the next may say 详细 or 街道.
        found += [word for word in unsure if word.kind is Kind.DETAIL and word.start and plain[word.start - 1] == "\n"]
    found.sort(key=lambda word: (word.start, -word.end))
    labels: list[Label] = []
    for start, end, kind in found:
        if labels and start < labels[-1].end:
            continue
        if labels and _TOUCHING.fullmatch(plain, labels[-1].end, start):
            labels[-1] = Label(labels[-1].start, _value(plain, end), kind)
        else:
            labels.append(Label(start, _value(plain, end), kind))
    return labels


def _is_whole(plain: str, word: Word) -> bool:
    """Whether a sure word is no part of a longer one."""
    start, end, kind = word
    if not plain[start].isascii():
        return True
    return _stands_alone(plain, start, end) and (
        kind is not Kind.NUMBER or _CODE.match(plain, _value(plain, end)) is not None
    )


def _is_label(plain: str, candidate: Word, edges: Set[int], divisions: Container[int]) -> bool:
    start, end, kind = candidate
    words = wordings()
    word = plain[start:end]
    if word.isascii() and not _stands_alone(plain, start, end):
        return False
    edge = start in edges
    value = _value(plain, end)
    colon = _COLON.match(plain, end) is not None
    digits = _DIGITS.match(plain, value) is not None
    if kind in (Kind.NUMBER, Kind.POSTCODE):
        return _CODE.match(plain, value) is not None
    if word == "微信":
        return (kind is Kind.PHONE) == digits and (edge or digits)
    if word == "contact":
        return (kind is Kind.PHONE) == digits and (edge or colon)
    if word == "电":
        return digits and (edge or colon)
    if word in words.bare:
        return edge
    if plain[end : end + 1] == " " and (word in words.space_is_enough or (word == "街道" and edge)):
        return True
    if word in words.colon_only:
        return _has_colon(plain, word, start, end, edge, colon)
    if word in words.verbs:
        return value in divisions or (edge and colon)
    if kind is Kind.REGION:
        return (edge and value in divisions) or _PUNCTUATION.match(plain, end) is not None
    if kind is Kind.PHONE:
        return colon or digits or (edge and not _NOT_A_PHONE_LABEL.match(plain, end))
    return colon or edge


def _has_colon(plain: str, word: str, start: int, end: int, edge: bool, colon: bool) -> bool:
    """Whether a word that is no label by itself has a colon behind it, or brackets around it."""
    if edge and colon and word in wordings().people:
        return True
    if edge and _CLOSING.match(plain, end):
        # （收） behind a name is no label; only at the very start it is one.
        return word not in ("收", "人", "号") or (word == "收" and start < 2)
    if word == "号" and _COUNTED.search(plain, max(0, start - 3), start):
        return False
    return _PUNCTUATION.match(plain, end) is not None and (edge or (len(word) > 1 and word != "街道"))


def _stands_alone(plain: str, start: int, end: int) -> bool:
    """Whether a word in Latin letters is not a part of a longer one."""
    after = _LETTER.match(plain, end) if _LETTER.match(plain, end - 1) else None
    return not (start and _LETTER.match(plain, start - 1)) and after is None


def _value(plain: str, end: int) -> int:
    """Where the value of a label begins that ends at `end`."""
    match = _JOINT.match(plain, end)
    return match.end() if match else end
