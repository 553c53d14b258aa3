"""How much a run of characters looks like a person's name, and where a glued name begins or ends.

Log-odds of characters, by place in a name, against their frequency in street addresses; made by
`scripts/build_rules.py` from lists of names and places. Scores are tenths of a natural logarithm. Knows nothing of
where in a line a run stands.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass

from copydesk.drafting.rules.folding import HAN, data

TITLE = re.compile(
    r"(?:先生|小姐|女士|老师|经理|师傅|阿姨|叔叔|大姐|大哥|主任|医生|老板|同学|律师|校长|店长|院长|科长|处长|队长|教授|会计|"
    r"太太|夫人|妈妈|爸爸|爷爷|奶奶|老表|总|姐|哥|工|嫂|婶|叔|妈)$"
)
RECEIVED = re.compile(rf"\s?(?:[(\[【](?:收|启|亲启)[)\]】]|亲收|亲启|签收|收件|(?<={HAN}{HAN})收|(?<=\s)收)$")
"""What is put behind a recipient's name."""
CERTAIN, HOPELESS = 80, -100
LONGEST = 12
"""Characters of the longest name that is looked for."""

_LENGTH = {2: -14, 3: -4, 4: -24}
_UNSEEN_FIRST, _UNSEEN, _UNSEEN_END = -25, 0, -10
_HAN_RUN = re.compile(rf"{HAN}+")
_LATIN = re.compile(r"[a-z]{2,12}(?:[ .][a-z]{1,12}){0,2}")
_LATIN_TITLE = re.compile(r"[a-z]{1,12}\s?(?:先生|小姐|女士|老师|总|姐|哥|同学|经理)")
_SENTENCE = re.compile(
    r"[我你您她吗呢吧请嗯这怎的没]|谢谢|哈哈|什么|已签|备注|或者|已发|不足|好评|错了|^(?:hi|hello|ok|abc|test)$"
    r"|^(?:先生|女士|小姐|老板|老师|客服|本人|同学)$"
)
_SPOKEN = re.compile(rf"{HAN}{{1,3}}(?:[a-z]{{1,3}}|\*{{1,2}}{HAN}?)")
_DOTTED = re.compile(rf"{HAN}{{2,8}}[·.]{HAN}{{2,8}}(?:[·.]{HAN}{{2,8}})?")


@dataclass(frozen=True, slots=True)
class Odds:
    """Character -> log-odds in tenths: as first, second, later character of a name, and as the last of a location."""

    first: dict[str, int]
    second: dict[str, int]
    later: dict[str, int]
    end: dict[str, int]
    compound: frozenset[str]
    """Surnames of two characters."""


@functools.cache
def odds() -> Odds:
    """The tables, read once."""
    source = json.loads(data("people.json.gz"))
    tables = {
        name: {character: int(score) for score, characters in table.items() for character in characters}
        for name, table in source["odds"].items()
    }
    return Odds(**tables, compound=frozenset(source["compound"]))


def name_score(name: str) -> int:
    """How much a folded run looks like a name rather than a part of an address: above 0 is likelier a name."""
    if not name or len(name) > 2 * LONGEST or is_sentence(name):
        return HOPELESS
    if name[1:2] == " ":
        name = name[0] + name[2:]
    if _HAN_RUN.fullmatch(name):
        return _han_score(name)
    if _DOTTED.fullmatch(name):
        return CERTAIN
    if _SPOKEN.fullmatch(name) and is_surname(name[0]):
        return 30 + odds().first[name[0]]
    if _LATIN_TITLE.fullmatch(name):
        return 60
    return 25 if _LATIN.fullmatch(name) else HOPELESS


def is_sentence(text: str) -> bool:
    """Whether a folded run has words of a sentence in it, or is no more than a way to address somebody."""
    return _SENTENCE.search(text) is not None


def is_surname(text: str) -> bool:
    """Whether a run is a usual surname."""
    return text in odds().compound if len(text) > 1 else odds().first.get(text, -1) > 0


def end_score(character: str) -> int:
    """How much likelier a folded character is at the end of a location than within one."""
    if character.isascii():
        return 12 if character.isalnum() or character in ")#-_>" else -20
    return odds().end.get(character, _UNSEEN_END)


def tail_name(text: str, least: int) -> int:
    """Length of the name at the end of a folded run of address and name, 0 if there is none better than `least`."""
    text = text[-2 * LONGEST :]
    best, length = least, 0
    title = TITLE.search(text)
    shortest, longest = (len(title[0]) + 1, len(title[0]) + 3) if title else (2, 4)
    dot = text.rfind("·")
    if dot > 0 and 2 <= len(text) - dot - 1 <= 6:
        shortest, longest = len(text) - dot + 2, len(text) - dot + 6
    for count in range(shortest, min(longest + 1, len(text))):
        name = text[-count:]
        if not _HAN_RUN.match(name):
            break
        score = name_score(name.replace("·", "")) + end_score(text[-count - 1])
        if score > best:
            best, length = score, count
    return length


def head_name(text: str, least: int) -> int:
    """Length of the name at the beginning of a folded run of name and address, 0 if none is better than `least`."""
    best, length = least, 0
    for count in range(2, min(5, len(text))):
        name = text[:count]
        if not _HAN_RUN.fullmatch(name):
            break
        score = name_score(name)
        if score > best:
            best, length = score, count
    return length


def _han_score(name: str) -> int:
    table = odds()
    first = table.first.get(name[0], _UNSEEN_FIRST)
    title = TITLE.search(name)
    if title is not None and 0 < title.start() <= 3:
        return 40 + first + (10 if title.start() == 1 else 0)
    if len(name) == 1:
        return first - 45 if first > 0 else HOPELESS
    score = first + table.second.get(name[1], _UNSEEN)
    for character in name[2:]:
        score += table.later.get(character, _UNSEEN)
    if name[:2] in table.compound:
        return score + 20 + _LENGTH.get(len(name) - 1, HOPELESS)
    if len(name) == 2 and _is_nickname(name):
        return max(score - 14, 25)
    return score + _LENGTH.get(len(name), -50 - 25 * (len(name) - 5))


def _is_nickname(name: str) -> bool:
    """小雨, 阿强, 老屈."""
    if name[0] in "小阿":
        return odds().second.get(name[1], _UNSEEN) > -25
    return name[0] in "老大" and is_surname(name[1])
