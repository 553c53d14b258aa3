"""Which tokens a reply may hold, and what they stand for in it.

Control tokens of the template have no place in a reply, those that end it and those around reasoning excepted. Knows
nothing of conversations or of what a reply says.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

Mask = NDArray[np.bool_]
OPEN, CLOSE = b"<think>", b"</think>"
"""What stands around reasoning, as control tokens or in plain letters."""


class ReplyVocabulary:
    """One model's tokens. Safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer, vocab_size: int) -> None:
        """`vocab_size` is the engine's; rows that have no token are never chosen."""
        self._tokenizer = tokenizer
        self._size = vocab_size
        self.ends = frozenset(tokenizer.eos_token_ids)
        self._marks = {id for mark in (OPEN, CLOSE) if (id := self._control(mark)) is not None} - self.ends
        self._silent = tokenizer.control_ids - self._marks

    @cached_property
    def close(self) -> tuple[int, ...]:
        """The tokens that end reasoning."""
        return tuple(self._tokenizer.encode_control(CLOSE.decode()))

    def text(self, token: int) -> bytes:
        """What a token stands for in a reply: an end token stands for nothing."""
        return b"" if token in self._silent else self._tokenizer.token_bytes(token)

    def written(self, token: int) -> bytes:
        """How a token is written, control tokens too."""
        return self._tokenizer.token_bytes(token) if token < self._tokenizer.vocab_size else b""

    @cached_property
    def plain(self) -> Mask:
        """Of all tokens whether they are plain text, `[vocab_size]`. Not to be changed."""
        tokenizer = self._tokenizer
        mask = np.zeros(self._size, dtype=bool)
        mask[: tokenizer.vocab_size] = [bool(tokenizer.token_bytes(id)) for id in range(tokenizer.vocab_size)]
        mask[list(tokenizer.control_ids)] = False
        return mask

    def mask(self, *, ends: bool = False, opens: bool = False, closes: bool = False) -> Mask:
        """`plain` and what else is allowed: the ends, the marks before and after reasoning."""
        key = (ends, opens, closes)
        if key not in self._masks:
            mask = self.plain.copy()
            more = [*(self.ends if ends else ())]
            more += [id for wanted, mark in ((opens, OPEN), (closes, CLOSE)) if wanted and (id := self._control(mark))]
            mask[more] = True
            self._masks[key] = mask
        return self._masks[key]

    @cached_property
    def _masks(self) -> dict[tuple[bool, bool, bool], Mask]:
        return {}

    @cached_property
    def crossing(self) -> tuple[int, ...]:
        """Tokens with text after a `>`: they could end reasoning and go on in the same breath."""
        texts = ((id, self._tokenizer.token_bytes(id).partition(b">")[2]) for id in np.flatnonzero(self.plain).tolist())
        return tuple(id for id, rest in texts if rest.strip())

    def _control(self, mark: bytes) -> int | None:
        id = self._tokenizer.id_of(mark.decode())
        return id if id in self._tokenizer.control_ids else None
