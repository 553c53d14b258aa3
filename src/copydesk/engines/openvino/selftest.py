"""Whether the paged cache computes here what it should: packed, forked and cut sequences against plain ones.

A few tokens; needs no reference but the network itself, read in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.openvino.backbone import Backbone, Segment
from copydesk.engines.openvino.runtime import EXACT, Setting
from copydesk.errors import EngineError

_EXACT_LIMIT, _FAST_LIMIT = 1e-3, 0.2
"""The most that a row may differ, relative to its length; activations rounded on the fly are rounded differently."""
_TOKENS = BLOCK_SIZE + 8
"""Enough to cross from one block into the next."""
_FORK = BLOCK_SIZE + 3
_CUT = BLOCK_SIZE - 2


def check(backbone: Backbone, vocab_size: int, setting: Setting) -> None:
    """Errors: `EngineError` that says which rows came out differently."""
    tokens = [(7 * index + 3) % vocab_size for index in range(_TOKENS)]
    others = [(11 * index + 5) % vocab_size for index in range(5)]
    opened = [backbone.open() for _ in range(3)]
    whole, other, packed = opened
    try:
        expected = backbone.read([Segment(whole, tokens, range(_TOKENS))])
        _compare("packed", _read(backbone, packed, tokens[:_FORK], (other, others)), expected[:_FORK], setting)
        forked = backbone.fork(packed)
        opened.append(forked)
        _compare("forked", _read(backbone, forked, tokens[_FORK:], (packed, others[:3])), expected[_FORK:], setting)
        backbone.cut(packed, _CUT)
        _compare("cut", _read(backbone, packed, tokens[_CUT:]), expected[_CUT:], setting)
        backbone.cut(forked, _TOKENS - 1)
        _compare("single", _read(backbone, forked, tokens[-1:]), expected[-1:], setting)
    finally:
        for sequence in opened:
            backbone.release(sequence)


def _read(
    backbone: Backbone, sequence: int, tokens: Sequence[int], beside: tuple[int, Sequence[int]] | None = None
) -> NDArray[np.float32]:
    """All hidden states of `tokens`, read in one call with another sequence's."""
    first = [] if beside is None else [Segment(beside[0], beside[1], ())]
    return backbone.read([*first, Segment(sequence, tokens, range(len(tokens)))])


def _compare(case: str, rows: NDArray[np.float32], expected: NDArray[np.float32], setting: Setting) -> None:
    error = np.linalg.norm(rows - expected, axis=1) / np.linalg.norm(expected, axis=1)
    # Written so that a row of NaN fails too.
    if not error.max() < (_EXACT_LIMIT if setting == EXACT else _FAST_LIMIT):
        raise EngineError(f"paged attention is wrong on this machine: {case} rows differ by {error.max():.2g}")
