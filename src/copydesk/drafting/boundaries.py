"""Where in a text a value is likely to begin and to end, judged by separators, labels and kinds of characters.

Guesses for lack of anything better: what is learned or ruled goes before them. Knows nothing of schemas.
"""

from __future__ import annotations

import re

_SEPARATOR = re.compile(
    r"[,，;；|、。!！?？\n\r\t\"“”()（）【】]|[:：](?!\d)|\.(?=\s|$)"
    r"|(?<!\s)\s++(?=[^\x00-\u02ff])|(?<=[^\x00-\u02ff])\s+"  # a space beside what is written without spaces
)
_SKIPPED = re.compile(r"[\s,，;；|、。.!！?？\"“”()（）【】:：\-#*]+")
_LABEL = re.compile(r"[^\W\d_]{1,16}(?:[ _][^\W\d_]{1,16})?\s*[:：]\s*")
_FIGURES = re.compile(r"[+\d](?:[\d.,:/\-+]*\d)?")
_LONG_NUMBER = re.compile(r"(?<=[^\x00-\x7f])\d{7}")
_WORD_END = re.compile(r"(?<=[\w'’])(?![\w'’])")
_FEW_WORDS = 3


def next_start(text: str, start: int) -> int:
    """Where, from a place on, the next value may begin: after separators and a label. The text's length if nowhere."""
    while True:
        skipped = _SKIPPED.match(text, start)
        place = skipped.end() if skipped else start
        label = _LABEL.match(text, place)
        if label is None:
            return place
        start = label.end()


def likely_end(text: str, start: int, written: int) -> int:
    """Where a value likely ends that begins at `start` and of which so many characters are written already.

    What separates nothing in the written part separates nothing after it.
    """
    place = start + written
    figures = _FIGURES.match(text, start)
    if figures and figures.end() >= place:
        return figures.end()
    after = max(place, start + 1)
    passed = set(text[start:place])
    found = (match for match in _SEPARATOR.finditer(text, after) if match.group()[0] not in passed)
    separator = next(found, None)
    end = separator.start() if separator else len(text)
    long_number = _LONG_NUMBER.search(text, after, end)
    if long_number:
        return long_number.start()
    if " " not in text[place:end] or "\n" in text or len(text[place:end].split()) <= _FEW_WORDS:
        return end
    # Twice as many words as are written: a value of any length is reached in few steps.
    words = 2 * (len(text[start:place].split()) - 1) if written else 0
    for word in _WORD_END.finditer(text, place, end):
        if words <= 0 and word.start() >= place:
            return word.start()
        words -= 1
    return end
