"""The text of a request: whether it can be read at all, and cutting one that is too long at a sentence end.

Knows nothing of tasks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copydesk.errors import TextError

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_WORD_END = re.compile(r"[ \t,，]+")
_SENTENCE_END = re.compile(r"[。！？!?…；;]+[”’\"'）)」』]*|\.(?=\s)|\n")


def check_kind(text: object) -> None:
    """Errors: `TextError` for what is no `str`, as may stand among a caller's texts."""
    if not isinstance(text, str):
        raise TextError(f"A text is a str, not {type(text).__name__}.", code="invalid_text")


def check(text: str) -> None:
    """Errors: `TextError` `empty_text` or `invalid_text`, saying what is wrong where."""
    if not text.strip():
        raise TextError("The text is empty; give some text to work on.", code="empty_text")
    if "\0" in text:
        raise TextError(f"The text holds a NUL byte at character {text.index(chr(0))}; it is no plain text.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"The text is not UTF-8: what stands at character {error.start} is no character (a lone surrogate); "
            "save it as UTF-8."
        ) from error


def cut(text: str, tokens: list[int], most: int, tokenizer: Tokenizer) -> tuple[str, list[int]]:
    """The longest beginning of `text` of at most `most` tokens that ends a sentence, and its tokens.

    Where there is no sentence end it ends a word, or wherever the tokens end. `tokens` are those of the whole text.
    """
    beginning = b"".join(map(tokenizer.token_bytes, tokens[:most])).decode(errors="ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(beginning)]
    while True:
        kept = beginning[: ends.pop()] if ends else _to_word(beginning)
        kept_tokens = tokenizer.encode(kept)
        if len(kept_tokens) <= most or not kept:
            return kept, kept_tokens
        if not ends:
            beginning = beginning[:-1]


def cut_beginning(text: str, tokens: list[int], most: int, tokenizer: Tokenizer) -> tuple[str, list[int]]:
    """The longest end of `text` of at most `most` tokens that follows a sentence end, and its tokens.

    Where there is no sentence end it follows a word's, or begins wherever the tokens do. `tokens` are those of the
    whole text.
    """
    ending = b"".join(map(tokenizer.token_bytes, tokens[len(tokens) - most :])).decode(errors="ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(ending) if ending[match.end() :].strip()]
    starts = [*ends, *(match.end() for match in _WORD_END.finditer(ending) if match.end() > (ends or [0])[-1])]
    for start in [*starts, *range(1, len(ending))]:
        kept = ending[start:].lstrip()
        kept_tokens = tokenizer.encode(kept)
        if len(kept_tokens) <= most and kept:
            return kept, kept_tokens
    return "", []


def shortened(text: str, most: int) -> str:
    """The longest beginning of `text` of at most `most` characters that ends a sentence, else a word."""
    beginning = text[:most]
    end = max((match.end() for match in _SENTENCE_END.finditer(beginning)), default=0)
    return beginning[:end] or _to_word(beginning)


def _to_word(text: str) -> str:
    space = max(text.rfind(" "), text.rfind("\t"), text.rfind("，"), text.rfind(","))
    return text[:space] if space > 0 else text
