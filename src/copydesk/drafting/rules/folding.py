"""Characters made comparable, one for one: half width, lower case, simplified, plain spaces and hyphens.

A folded text has the length of the text it came from, so a place in the one is the same place in the other. Knows
nothing of addresses.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

HAN = r"[^\W\da-z_]"
"""Pattern of a Chinese character in a folded text: a letter, none of a to z. (Ranges of them take long to compile.)"""

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u3000\ufeff"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d\ufe63"
_DOTS = "•・‧∙⋅᛫"
_BRACKETS = {"〔": "(", "〕": ")", "〈": "<", "〉": ">"}
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_HALF_WIDTH_ALPHANUMERIC = {code: half for code, half in _HALF_WIDTH.items() if chr(half).isalnum()}


def data(name: str) -> str:
    """A data file of the rules, unpacked."""
    return gzip.decompress((Path(__file__).with_name("data") / name).read_bytes()).decode()


def fold(text: str) -> str:
    """The text as rules compare it, as long as the text itself."""
    return text.translate(_table())


def half_width(text: str) -> str:
    """The text with half-width digits and letters, otherwise as written: how a value is kept."""
    return text if text.isascii() else text.translate(_HALF_WIDTH_ALPHANUMERIC)


def simplified(text: str) -> str:
    """The text with simplified characters for traditional ones, otherwise as written."""
    return text if text.isascii() else text.translate(_simplified())


@functools.cache
def _simplified() -> dict[int, int]:
    pairs = data("characters.txt.gz")
    return {ord(traditional): ord(simple) for traditional, simple in zip(pairs[::2], pairs[1::2], strict=True)}


@functools.cache
def _table() -> dict[int, int]:
    table = _simplified() | _HALF_WIDTH
    for code in range(ord("A"), ord("Z") + 1):
        table[code] = table[code + 0xFEE0] = code + 32
    for characters, plain in ((_SPACES, " "), (_HYPHENS, "-"), (_DOTS, "·")):
        table |= {ord(character): ord(plain) for character in characters}
    table |= {ord(character): ord(plain) for character, plain in _BRACKETS.items()}
    # Halves of characters that are no characters: nothing can be found in them.
    table |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
    return table
