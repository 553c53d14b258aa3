"""A text as units (words, numbers, single CJK characters, signs) with hashed features: what a linear tagger sees of it.

Features are of the unit's and its neighbours' letters, shapes and places. All of it is arithmetic on arrays: the hash
of a part of the text is a difference of prefix sums. Knows nothing of answers. Changing anything here makes what was
learned before worthless: raise `VERSION`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

VERSION = 1
BITS = 32
"""Bits of a feature's hash."""

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

_SPACE, _LETTER, _DIGIT, _SINGLE, _SIGN = range(5)
"""Kinds of characters. Letters and digits run together to units; those of scripts without spaces stand alone."""
_SCRIPTS_WITHOUT_SPACES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),
    *((0x2E80, 0x9FFF), (0xA960, 0xD7FF), (0xF900, 0xFAFF)),
)
_BASIC = 0x10000
"""Characters beyond are taken for CJK."""

_WORD, _SHAPE, _HEAD, _TAIL, _BEFORE, _BEFORE_THAT, _FIRST, _LINE, _PLACE = range(9)
"""What is known of a unit: its letters, their shape, their first and last three, the nearest two words before it, the
first unit of the text and of its line, and how far it is from the ends."""
_ATTRIBUTES = 9
_WINDOW = 3
_TEMPLATES: tuple[tuple[tuple[int, int], ...], ...] = (
    *(((_WORD, shift),) for shift in range(-_WINDOW, _WINDOW + 1)),
    *(((_WORD, shift), (_WORD, shift + 1)) for shift in range(-_WINDOW, _WINDOW)),
    *(((_WORD, shift), (_WORD, shift + 1), (_WORD, shift + 2)) for shift in (-2, -1, 0)),
    ((_SHAPE, -1), (_SHAPE, 0)),
    ((_SHAPE, 0), (_SHAPE, 1)),
    ((_SHAPE, -1), (_SHAPE, 0), (_SHAPE, 1)),
    tuple((_SHAPE, shift) for shift in range(-2, 3)),
    ((_HEAD, 0),),
    ((_TAIL, 0),),
    ((_BEFORE, 0), (_SHAPE, 0)),
    ((_BEFORE, 0), (_BEFORE_THAT, 0)),
    ((_PLACE, 0), (_SHAPE, 0)),
    ((_FIRST, 0), (_WORD, 0)),
    ((_FIRST, 0), (_SHAPE, 0)),
    ((_LINE, 0), (_SHAPE, 0)),
    (),
)
"""Each feature, as `(attribute, how many units further on)` of what it joins. The last is always the same."""
FEATURES = len(_TEMPLATES)
WORD, PAIR, ALWAYS = _WINDOW, 3 * _WINDOW + 1, FEATURES - 1
"""Places among the features of a unit's own word, of the word and the next, and of the one that is always there."""

_PRIME = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_FORWARD, _BACKWARD = np.uint64(_PRIME), np.uint64(pow(_PRIME, -1, 1 << 64))
_HALF, _PART = np.uint64(32), np.uint64(29)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a text: where they start and end (code points), and their features `[FEATURES, units]`."""

    starts: Integers
    ends: Integers
    features: Hashes
    """Below `2**BITS`."""


def units_of(text: str) -> Units:
    """The units of a text, spaces left out."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    tables = _tables()
    small = np.minimum(codes, _BASIC - 1)
    kinds = tables.kinds[small]
    begins = kinds >= _SINGLE
    begins[:1] = True
    begins[1:] |= kinds[1:] != kinds[:-1]
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(codes))
    spaces = kinds[starts] == _SPACE
    after_space = np.append(False, spaces[:-1])[: len(starts)]
    kept = ~spaces
    starts, ends, after_space = starts[kept], ends[kept], after_space[kept]
    if not len(starts):
        return Units(starts, ends, np.zeros((FEATURES, 0), np.uint64))
    attributes = _attributes(codes, small, kinds, starts, ends, after_space)
    return Units(starts, ends, _features(attributes))


def _attributes(
    codes: npt.NDArray[np.uint32],
    small: npt.NDArray[np.uint32],
    kinds: npt.NDArray[np.uint8],
    starts: Integers,
    ends: Integers,
    after_space: npt.NDArray[np.bool_],
) -> Hashes:
    """`[units + 2 * _WINDOW, _ATTRIBUTES]`, zeros around."""
    tables = _tables()
    count = len(starts)
    forward, backward = _powers(len(codes).bit_length())
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum((tables.folded[small] + codes) * _MIX * forward[: len(codes)], out=sums[1:])
    since, shift = sums[starts], backward[starts]
    padded = np.zeros((count + 2 * _WINDOW, _ATTRIBUTES), np.uint64)
    inner = padded[_WINDOW:-_WINDOW]
    kind = kinds[starts]
    places = np.arange(count)
    lines = np.cumsum(codes == 10)[starts]
    new_line = np.append(True, lines[1:] != lines[:-1])
    capitals = tables.capitals[small]
    shapes = kind * 64 + np.minimum(ends - starts, 15) * 4 + capitals[starts] + 2 * capitals[ends - 1]
    shapes = np.where(kind == _SIGN, codes[starts].astype(np.int64) + 4096, shapes)
    inner[:, _WORD] = (sums[ends] - since) * shift
    inner[:, _SHAPE] = (shapes * 4 + 2 * after_space + new_line).astype(np.uint64) * _MIX
    inner[:, _HEAD] = (sums[np.minimum(starts + 3, ends)] - since) * shift
    tails = np.maximum(ends - 3, starts)
    inner[:, _TAIL] = (sums[ends] - sums[tails]) * backward[tails]
    word = padded[:, _WORD]
    spoken = np.maximum.accumulate(np.where((kind == _LETTER) | (kind == _SINGLE), places, -1))
    before = np.append(-1, spoken[:-1])
    inner[:, _BEFORE] = word[before + _WINDOW]
    inner[:, _BEFORE_THAT] = word[np.append(-1, before)[before + 1] + _WINDOW]
    inner[:, _FIRST] = word[_WINDOW]
    inner[:, _LINE] = word[np.maximum.accumulate(np.where(new_line, places, 0)) + _WINDOW]
    left = np.minimum(count - 1 - places, 4)
    inner[:, _PLACE] = (np.minimum(places, 6) + 8 * left + 64 * np.minimum(lines, 7)).astype(np.uint64) * _MIX
    inner ^= inner >> _HALF
    inner *= _FORWARD
    return padded


def _features(attributes: Hashes) -> Hashes:
    """`[FEATURES, units]`."""
    parts, factors, offsets, salts = _joins()
    count = len(attributes) - 2 * _WINDOW
    row, column = attributes.strides
    shifted = np.lib.stride_tricks.as_strided(
        attributes, ((2 * _WINDOW + 1) * _ATTRIBUTES, count), (column, row), writeable=False
    )
    features = np.empty((FEATURES, count), np.uint64)
    np.add.reduceat(shifted[parts] * factors, offsets, axis=0, out=features[:-1])
    features[-1] = 0
    features += salts
    features ^= features >> _PART
    features *= _MIX
    features >>= np.uint64(64 - BITS)
    return features


@cache
def _joins() -> tuple[Integers, Hashes, Integers, Hashes]:
    """Of all templates but the last: the rows they join, a factor for each, where each template begins; all salts."""
    parts = [(shift + _WINDOW) * _ATTRIBUTES + attribute for join in _TEMPLATES for attribute, shift in join]
    offsets = np.cumsum([0, *map(len, _TEMPLATES[:-2])])
    factors = _random(1, len(parts)) | np.uint64(1)
    return np.array(parts), factors[:, None], offsets, _random(2, FEATURES)[:, None]


def _random(seed: int, count: int) -> Hashes:
    """Numbers that are the same wherever and whenever (splitmix64)."""
    numbers = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * _FORWARD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class _Tables:
    """Of each character: its kind, whether it is a capital, and what to add to it for lower case and half width."""

    kinds: npt.NDArray[np.uint8]
    capitals: Integers
    folded: Hashes


@cache
def _tables() -> _Tables:
    kinds = np.full(_BASIC, _SIGN, np.uint8)
    capitals = np.zeros(_BASIC, np.int64)
    folded = np.zeros(_BASIC, np.uint64)
    for code in range(_BASIC):
        character = chr(code)
        if character.isspace():
            kinds[code] = _SPACE
        elif character.isdecimal():
            kinds[code] = _DIGIT
        elif character.isalnum() or unicodedata.category(character).startswith("M"):
            kinds[code] = _LETTER
        lower = character.lower()
        if lower != character and len(lower) == 1:
            capitals[code] = 1
            folded[code] = np.uint64((ord(lower) - code) % (1 << 64))
    for first, last in _SCRIPTS_WITHOUT_SPACES:
        part = kinds[first : last + 1]
        part[part == _LETTER] = _SINGLE
    kinds[_BASIC - 1] = _SINGLE
    wide = np.arange(0xFF01, 0xFF5F)
    folded[wide] = folded[wide - 0xFEE0] - np.uint64(0xFEE0)
    return _Tables(kinds, capitals, folded)


@cache
def _powers(bits: int) -> tuple[Hashes, Hashes]:
    """The first `2**bits` powers of an odd number and of its inverse, modulo 2**64."""
    rising, falling = np.full(1 << bits, _FORWARD, np.uint64), np.full(1 << bits, _BACKWARD, np.uint64)
    rising[0] = falling[0] = 1
    return np.multiply.accumulate(rising), np.multiply.accumulate(falling)
