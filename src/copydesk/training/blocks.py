"""A block: the packed tokens of one training step and the positions whose predictions are scored, in one flat array.

All blocks of a run have the same sizes, so that they can be compiled for, pinned and copied in one piece. Knows no
examples, no tokenizer and no torch (its views work on numpy arrays and torch tensors alike).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class BlockSize:
    """How many tokens a block holds, in rows that no segment crosses, and room for segments and scored positions."""

    tokens: int = 65_536
    row: int = 2_048
    longest: int = 512
    """The most tokens in one segment."""
    scored_share: float = 0.6
    """Room for scored positions, as a share of the tokens."""

    @property
    def examples(self) -> int:
        """The most examples in a block."""
        return self.tokens // 40

    @property
    def segments(self) -> int:
        """Room for the examples and, at the end of every row, for padding cut into segments of its own."""
        return self.examples + self.tokens // self.row * -(-self.row // self.longest)

    @property
    def scored(self) -> int:
        return int(self.tokens * self.scored_share)

    @property
    def words(self) -> int:
        """Length of the flat int32 array."""
        return self.tokens + self.segments + 1 + 5 * self.scored


@dataclass(frozen=True)
class Block:
    """Views into a block's flat array (numpy or torch).

    `tokens` int32 `[tokens]`; `bounds` int32 `[segments + 1]`; then, for each scored position: `places` int32 (which
    token's next is predicted), `targets` int32, `answer_weights` and `text_weights` float32 (zero where nothing is
    scored), `sources` int32 (which source of the mixture it came from).
    """

    tokens: Any
    bounds: Any
    places: Any
    targets: Any
    answer_weights: Any
    text_weights: Any
    sources: Any


def views(flat: Any, size: BlockSize, float_type: Any = np.float32) -> Block:
    """The parts of a flat int32 array; `float_type` is the library's float32."""
    parts, start = [], 0
    for length in (size.tokens, size.segments + 1, *[size.scored] * 5):
        parts.append(flat[start : start + length])
        start += length
    tokens, bounds, places, targets, answer, text, sources = parts
    return Block(tokens, bounds, places, targets, answer.view(float_type), text.view(float_type), sources)
