"""Noise for real news rows while the student trains: what it must not lean on is dropped, changed or hidden.

The label never depends on what is changed: case, source tags, quoting remnants, single words, one of the two parts.
Knows no tokens; pure Python, some fifteen microseconds a text.
"""

from __future__ import annotations

import random
import re

_SOURCE_TAG = re.compile(
    r"\s*\((?:Reuters|AP|AFP|Canadian Press|washingtonpost\.com|USATODAY\.com|SPACE\.com|PC World|MacCentral|"
    r"InfoWorld|TechWeb|CP|Ziff Davis|Investor's Business Daily|NewsFactor|Maclean's|The Christian Science Monitor|"
    r"BusinessWeek Online|Forbes\.com|Los Angeles Times|Chicago Tribune|The New Republic)\)"
)
_SOURCE_LEAD = re.compile(r"(?<![\w.])(?:Reuters|AP|AFP|Canadian Press|PC World|SPACE\.com|USATODAY\.com) -+ ?")
_DATELINE = re.compile(r"(?<!\S)[A-Z][A-Z.,' ]{2,40}(?:, [A-Z][a-z]+\.?)? -{1,2} ")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'])")
_REMNANTS = (
    (" #39;", "'"),
    (" quot;", '"'),
    ("&lt;", "<"),
    ("&gt;", ">"),
    (" amp;", " &"),
    ("#36;", "$"),
    ("\\", " "),
    ("  ", " "),
)
_BACK = (("'", " #39;"), ('"', " quot;"), ("$", " #36;"))
_FEWEST_WORDS = 6


def augment(text: str, rng: random.Random, *, strength: float = 1.0) -> str:
    """A changed copy of `text`, never empty; about three texts in ten come back unchanged.

    `strength` scales the chance of every change; 0 changes nothing. Equal generators give equal results.
    """

    def chance(share: float) -> bool:
        return rng.random() < share * strength

    result = text
    if chance(0.3):
        result = _SOURCE_LEAD.sub("", _SOURCE_TAG.sub("", result))
    if chance(0.15):
        result = _DATELINE.sub("", result, count=1)
    if chance(0.15):
        result = _changed_remnants(result, rng)
    if chance(0.25):
        result = _part(result, rng)
    if chance(0.4):
        result = _without_words(result, rng, 0.1)
    if chance(0.1):
        result = _swapped(result, rng)
    if chance(0.08):
        result = _cut(result, rng)
    if chance(0.12):
        result = result.lower()
    return result if result.strip() else text


def _part(text: str, rng: random.Random) -> str:
    """The text without one of its sentences, or without its first or last half: title and description both occur."""
    sentences = _SENTENCE_END.split(text)
    if len(sentences) > 2 or (len(sentences) == 2 and rng.random() < 0.5):
        left_out = rng.randrange(len(sentences))
        return " ".join(sentence for index, sentence in enumerate(sentences) if index != left_out)
    words = text.split(" ")
    if len(words) < 2 * _FEWEST_WORDS:
        return text
    # A title is some 5 to 9 words long and nothing marks its end.
    title = rng.randint(5, 9)
    return " ".join(words[title:] if rng.random() < 0.6 else words[: max(title, len(words) // 3)])


def _without_words(text: str, rng: random.Random, share: float) -> str:
    words = text.split(" ")
    if len(words) < _FEWEST_WORDS:
        return text
    return " ".join([word for word in words if rng.random() >= share] or words)


def _swapped(text: str, rng: random.Random) -> str:
    """The text with a few neighbouring words exchanged."""
    words = text.split(" ")
    for _ in range(min(3, len(words) // _FEWEST_WORDS)):
        at = rng.randrange(len(words) - 1)
        words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


def _cut(text: str, rng: random.Random) -> str:
    """The text cut off somewhere in its last third, as teasers are."""
    return text[: rng.randint(len(text) * 2 // 3, len(text))]


def _changed_remnants(text: str, rng: random.Random) -> str:
    """Entity remnants turned into the characters they stand for, or the other way round."""
    cleaned = text
    for remnant, character in _REMNANTS:
        cleaned = cleaned.replace(remnant, character)
    if cleaned != text:
        return cleaned
    character, remnant = rng.choice(_BACK)
    return text.replace(character, remnant)
