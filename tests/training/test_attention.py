"""Packed attention, and how a kernel is chosen."""

from __future__ import annotations

import math

import pytest
import torch

from copydesk.errors import CopydeskError
from copydesk.training.attention import choose, packed, positions_of_each, segment_of_each
from copydesk.training.network import Shape

SHAPE = Shape(50, 32, 48, 2, 4, 2, 16)
BOUNDS = torch.tensor([0, 3, 3, 7, 8, 8], dtype=torch.int32)


def test_tokens_know_their_segment_and_their_place_in_it() -> None:
    assert segment_of_each(BOUNDS, 8).tolist() == [0, 0, 0, 2, 2, 2, 2, 3]
    assert positions_of_each(BOUNDS, 8).tolist() == [0, 1, 2, 0, 1, 2, 3, 0]


def test_the_plain_kernel_is_causal_attention_within_each_segment() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(8, heads, 16, generator=generator) for heads in (4, 2, 2))
    attention = packed("masked", tokens=8, row=8, longest=4)
    out = attention.attend(q, k, v, attention.context(BOUNDS))
    starts = [0, 0, 0, 3, 3, 3, 3, 7]
    for query in range(8):
        for head in range(4):
            keys, values = k[starts[query] : query + 1, head // 2], v[starts[query] : query + 1, head // 2]
            shares = (keys @ q[query, head] / math.sqrt(16)).softmax(0)
            torch.testing.assert_close(out[query, head], shares @ values)


def test_a_kernel_that_cannot_run_here_gives_way_to_the_next() -> None:
    chosen = choose("auto", SHAPE, torch.device("cpu"), torch.float32, tokens=64, row=32, longest=16)
    assert chosen.kernel == "masked"


def test_no_kernel_at_all_is_an_error_that_says_so() -> None:
    with pytest.raises(CopydeskError, match="attention=masked"):
        choose("varlen", SHAPE, torch.device("cpu"), torch.float32, tokens=64, row=32, longest=16)
