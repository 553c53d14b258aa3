"""Forced text as the tokens that the tokenizer would write it with.

One function of what stands before and of the forced bytes: an answer is tokenised the same way however it came about,
and the way a whole answer is tokenised in training wherever the open text around it allows. Knows nothing of grammars.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_FOLLOWERS = (*'aAé中07 "]},.-(\\', " a", ' "', '",', '""', '"}', "'s")
"""Text that may follow forced text. A token that any of these changes could reach past its end."""
_BEGUN_WORD = re.compile(r"[^\W_]+\Z")
_REMEMBERED = 8192


class Canonical:
    """Splits forced bytes into tokens; remembers what it split."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._remembered: dict[tuple[int | None, bytes], tuple[tuple[int, ...], int]] = {}

    @cached_property
    def byte_tokens(self) -> Mapping[int, int]:
        """The tokens that are one byte each, by their byte."""
        ids = (id for id in range(self._tokenizer.vocab_size) if id not in self._tokenizer.control_ids)
        return {token[0]: id for id in ids if len(token := self._tokenizer.token_bytes(id)) == 1}

    @cached_property
    def _pieces(self) -> list[bytes]:
        """What each token stands for."""
        control = self._tokenizer.control_ids
        ids = range(self._tokenizer.vocab_size)
        return [b"" if id in control else self._tokenizer.token_bytes(id) for id in ids]

    def text(self, tokens: Iterable[int]) -> bytes:
        """The bytes that tokens stand for; control tokens, such as the one that ends an answer, stand for none."""
        return b"".join(map(self._pieces.__getitem__, tokens))

    def pieces(self, tokens: Iterable[int]) -> list[bytes]:
        """The bytes of each."""
        return list(map(self._pieces.__getitem__, tokens))

    def split(self, before: Sequence[int], forced: bytes) -> tuple[tuple[int, ...], int]:
        """The tokens of `forced` after the answer's tokens `before`, and how many of them stand whatever follows.

        The others could reach past its end, unless the answer ends there. A character that is only begun is left out.
        """
        # Only the nearest token: pre-tokenisers look no further back than that, and what they miss costs no legality.
        key = (before[-1] if before else None, forced)
        split = self._remembered.get(key)
        if split is None:
            split = self._split(*key)
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = split
        return split

    def _split(self, previous: int | None, forced: bytes) -> tuple[tuple[int, ...], int]:
        head, body = _whole_characters(forced)
        tokens = tuple(self.byte_tokens[byte] for byte in head if byte in self.byte_tokens)
        if not body or len(tokens) < len(head):
            return tokens, len(tokens)
        context = "" if previous is None or head else self._text(previous)
        ids = self._after(context, body)
        if ids is None:
            context = ""
            ids = self._tokenizer.encode(body)
        kept = min(_common(ids, self._after(context, body + follower) or ()) for follower in _FOLLOWERS)
        # No list of followers covers the words that a word begun here may become.
        settled = len(_BEGUN_WORD.sub("", body).encode())
        while kept and len(self.text(ids[:kept])) > settled:
            kept -= 1
        return tokens + tuple(ids), len(tokens) + kept

    def _after(self, context: str, text: str) -> list[int] | None:
        """The tokens of `text` where it follows `context`; None if a token spans the two."""
        ids = self._tokenizer.encode(context + text)
        length = len(context.encode())
        ends = list(accumulate((len(self._tokenizer.token_bytes(id)) for id in ids), initial=0))
        return ids[ends.index(length) :] if length in ends else None

    def _text(self, token: int) -> str:
        """A token's text, empty if it is no whole characters."""
        try:
            return self._tokenizer.token_bytes(token).decode()
        except UnicodeDecodeError:
            return ""


def _whole_characters(forced: bytes) -> tuple[bytes, str]:
    """The bytes that complete a character begun before, and the whole characters after them."""
    start = 0
    while start < len(forced) and forced[start] & 0xC0 == 0x80:
        start += 1
    body = forced[start:].decode(errors="ignore")  # what is ignored is a character's beginning at the very end
    return forced[:start], body


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common beginning."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
