"""A text as values are compared with it: in one width, case and script, without spaces.

What a model copies it may also tidy up; so written, it is still the same. Knows nothing of answers.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from copydesk.drafting.readings import Reading
from copydesk.drafting.rules.folding import simplified


def compared(text: str) -> Reading:
    """A text without what makes no difference. A character may become several, or none if it is a space."""
    if text.isascii():
        kept = [place for place, character in enumerate(text) if not character.isspace()]
        return Reading("".join(text.split()).lower(), kept)
    characters: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        for folded in _folded(character):
            characters.append(folded)
            origins.append(position)
    return Reading("".join(characters), origins)


@lru_cache(maxsize=65536)
def _folded(character: str) -> str:
    folded = simplified(unicodedata.normalize("NFKC", character).casefold())
    return "".join(part for part in folded if not part.isspace() and unicodedata.category(part) != "Cf")
