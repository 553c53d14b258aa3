"""Triton kernels of the head: logits, the best token of each row, log-probabilities of single ones.

The logits of many rows never stand in memory as a whole. What each computes stands in `reference`. Knows no model.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-any-return, attr-defined, type-arg, valid-type, misc"
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_COLUMNS_AT_ONCE = 128
_ROWS_AT_ONCE = 8192
"""Rows that are scored together: what is known of them for each tile of columns takes memory."""


def score(hidden: Tensor, weight: Tensor) -> Tensor:
    count, vocabulary = len(hidden), len(weight)
    tiles = triton.cdiv(vocabulary, _COLUMNS_AT_ONCE)
    found = torch.empty(3, count, dtype=torch.float32, device=hidden.device)
    for begin in range(0, count, _ROWS_AT_ONCE):
        rows = hidden[begin : begin + _ROWS_AT_ONCE]
        own = found[:, begin : begin + _ROWS_AT_ONCE]
        partial = torch.empty(3, len(rows), tiles, dtype=torch.float32, device=hidden.device)
        _multiply(rows, weight, partial)
        _reduce[(len(rows),)](
            partial,
            own[0].view(torch.int32),
            own[1],
            own[2],
            tiles,
            partial.stride(0),
            triton.next_power_of_2(tiles),
        )
    return found


def project(hidden: Tensor, weight: Tensor) -> Tensor:
    logits = torch.empty(len(hidden), len(weight), dtype=torch.float32, device=hidden.device)
    if len(hidden):
        _multiply(hidden, weight, logits, store=True)
    return logits


def listed(hidden: Tensor, weight: Tensor, normalizers: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    result = torch.empty(len(rows), dtype=torch.float32, device=hidden.device)
    if len(rows):
        size = hidden.shape[1]
        _listed[(len(rows),)](hidden, weight, normalizers, rows, tokens, result, size, triton.next_power_of_2(size))
    return result


def precision_of(tensor: Tensor) -> str:
    """How the products of a tensor are computed: float32 in full."""
    return "ieee" if tensor.dtype == torch.float32 else "tf32"


def _multiply(hidden: Tensor, weight: Tensor, result: Tensor, *, store: bool = False) -> None:
    """`result` is the logits, or of each row's tiles of columns the maximum, its index and the sum of exponentials."""
    count = len(hidden)
    rows = min(128, max(16, triton.next_power_of_2(count)))
    grid = (triton.cdiv(count, rows), triton.cdiv(len(weight), _COLUMNS_AT_ONCE))
    _project[grid](
        hidden,
        weight,
        result,
        count,
        len(weight),
        0 if store else result.stride(0),
        hidden.shape[1],
        rows,
        _COLUMNS_AT_ONCE,
        64,
        STORE=store,
        PRECISION=precision_of(hidden),
        num_warps=8 if rows >= 128 else 4,
        num_stages=3 if rows >= 64 else 4,
    )


@triton.jit(do_not_specialize=["count", "plane"])
def _project(
    hidden,
    weight,
    result,
    count,
    vocabulary,
    plane,
    SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INPUTS: tl.constexpr,
    STORE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    left = hidden + rows[:, None].to(tl.int64) * SIZE
    right = weight + columns[None, :].to(tl.int64) * SIZE
    logits = tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, SIZE, INPUTS):
        inputs = begin + tl.arange(0, INPUTS)
        states = tl.load(left + inputs[None, :], (rows[:, None] < count) & (inputs[None, :] < SIZE), 0)
        matrix = tl.load(right + inputs[:, None], (columns[None, :] < vocabulary) & (inputs[:, None] < SIZE), 0)
        logits = tl.dot(states, matrix, logits, input_precision=PRECISION)
    real = rows < count
    if STORE:
        place = result + rows[:, None].to(tl.int64) * vocabulary + columns[None, :]
        tl.store(place, logits, real[:, None] & (columns[None, :] < vocabulary))
    else:
        logits = tl.where(columns[None, :] < vocabulary, logits, float("-inf"))
        highest, index = tl.max(logits, 1, return_indices=True)
        total = tl.sum(tl.exp(logits - highest[:, None]), 1)
        place = rows.to(tl.int64) * tl.num_programs(1) + tl.program_id(1)
        tl.store(result + place, highest, real)
        tl.store(result + plane + place, (tl.program_id(1) * COLUMNS + index).to(tl.float32), real)
        tl.store(result + 2 * plane + place, total, real)


@triton.jit(do_not_specialize=["tiles", "plane"], do_not_specialize_on_alignment=["argmax", "logprobs", "normalizers"])
def _reduce(partial, argmax, logprobs, normalizers, tiles, plane, TILES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    tile = tl.arange(0, TILES)
    mask = tile < tiles
    highest = tl.load(partial + row * tiles + tile, mask, float("-inf"))
    index = tl.load(partial + plane + row * tiles + tile, mask, 0)
    total = tl.load(partial + 2 * plane + row * tiles + tile, mask, 0)
    best = tl.max(highest)
    # Scores that are not numbers find no tile that has the best one: then it is the first token, which can be read.
    first = tl.min(tl.where(mask & (highest == best), index, 2147483648.0))
    first = tl.where(first < 2147483648.0, first, 0.0)
    logsum = tl.log(tl.sum(tl.where(mask, total * tl.exp(highest - best), 0)))
    tl.store(argmax + row, first.to(tl.int32))
    tl.store(logprobs + row, -logsum)
    tl.store(normalizers + row, best + logsum)


@triton.jit(do_not_specialize_on_alignment=["normalizers", "rows", "tokens"])
def _listed(hidden, weight, normalizers, rows, tokens, result, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    row = tl.load(rows + program).to(tl.int64)
    token = tl.load(tokens + program).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    states = tl.load(hidden + row * SIZE + columns, mask, 0).to(tl.float32)
    states *= tl.load(weight + token * SIZE + columns, mask, 0).to(tl.float32)
    tl.store(result + program, tl.sum(states) - tl.load(normalizers + row))
