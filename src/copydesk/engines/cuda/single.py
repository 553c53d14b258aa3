"""Triton kernels for a forward of one token, where all that counts is how fast the weights are read.

Each does what takes two or three of the general kernels, and asks for its weights before the kernel in front of it is
done (programmatic dependent launch, from Hopper on). What they compute is the same up to rounding. Knows no model.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-any-return, attr-defined, type-arg, valid-type, misc"
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.head import precision_of
from copydesk.engines.cuda.kernels import LOG2_E
from copydesk.engines.cuda.shapes import Heads

_KEYS_AT_ONCE = 128
_ATTENDING_WARPS = 8
_LEAST_ROWS = 16
"""Of a matrix product; a single token has fewer query heads to each head of keys."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a matrix is shared out: rows a program, columns at once, warps a program."""

    rows: int
    columns: int
    warps: int


# The fastest of those tried on an H200 for Qwen3-0.6B's matrices, in a whole forward: what suits a kernel by itself may
# leave the one behind it no room to begin early.
QKV = Tiling(rows=8, columns=1024, warps=8)
OUTPUT = Tiling(rows=4, columns=2048, warps=4)
GATE_UP = Tiling(rows=8, columns=1024, warps=4)
DOWN = Tiling(rows=8, columns=4096, warps=8)


def norm_linear(
    residual: Tensor,
    gains: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    *,
    early: bool,
    tiling: Tiling = QKV,
) -> Tensor:
    """The norm of the residual stream `[1, hidden]` by `[outputs, hidden]`."""
    outputs, hidden = weight.shape
    result = torch.empty(1, outputs, dtype=weight.dtype, device=weight.device)
    _norm_linear[(triton.cdiv(outputs, tiling.rows),)](
        residual,
        gains,
        weight,
        weight if bias is None else bias,
        result,
        eps,
        outputs,
        hidden,
        tiling.rows,
        triton.next_power_of_2(hidden),
        BIAS=bias is not None,
        EARLY=early,
        num_warps=tiling.warps,
        **_launch(early),
    )
    return result


def norm_gate(
    residual: Tensor, gains: Tensor, weight: Tensor, eps: float, *, early: bool, tiling: Tiling = GATE_UP
) -> Tensor:
    """SiLU of the first half of `norm_linear` times its second half."""
    outputs, hidden = weight.shape[0] // 2, weight.shape[1]
    result = torch.empty(1, outputs, dtype=weight.dtype, device=weight.device)
    _norm_gate[(triton.cdiv(outputs, tiling.rows),)](
        residual,
        gains,
        weight,
        result,
        eps,
        outputs,
        hidden,
        tiling.rows,
        triton.next_power_of_2(hidden),
        EARLY=early,
        num_warps=tiling.warps,
        **_launch(early),
    )
    return result


def linear_add(
    states: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor, *, early: bool, tiling: Tiling = DOWN
) -> None:
    """Add `[1, inputs]` by `[hidden, inputs]` to the residual stream in place."""
    outputs, inputs = weight.shape
    _linear_add[(triton.cdiv(outputs, tiling.rows),)](
        states,
        weight,
        weight if bias is None else bias,
        residual,
        outputs,
        inputs,
        tiling.rows,
        min(tiling.columns, triton.next_power_of_2(inputs)),
        BIAS=bias is not None,
        EARLY=early,
        num_warps=tiling.warps,
        **_launch(early),
    )


def attend(
    qkv: Tensor,
    positions: Tensor,
    rows: Tensor,
    tables: Tensor,
    cosine: Tensor,
    sine: Tensor,
    query_gains: Tensor | None,
    key_gains: Tensor | None,
    eps: float,
    keys: Tensor,
    values: Tensor,
    heads: Heads,
    *,
    early: bool,
) -> Tensor:
    """`rotate_and_store` and `attend` in one: `[1, query heads * size]`."""
    result = torch.empty(1, heads.query * heads.size, dtype=qkv.dtype, device=qkv.device)
    group = heads.query // heads.kv
    _attend_one[(heads.kv,)](
        qkv,
        positions,
        rows,
        tables,
        cosine,
        sine,
        qkv if query_gains is None else query_gains,
        qkv if key_gains is None else key_gains,
        keys,
        values,
        result,
        eps,
        tables.shape[1],
        heads.size**-0.5 * LOG2_E,
        heads.query,
        heads.kv,
        heads.size,
        BLOCK_SIZE,
        group,
        max(_LEAST_ROWS, triton.next_power_of_2(group)),
        _KEYS_AT_ONCE,
        NORM=query_gains is not None,
        EARLY=early,
        PRECISION=precision_of(qkv),
        num_warps=_ATTENDING_WARPS,
        **_launch(early),
    )
    return result


@cache
def has_early_launch() -> bool:
    """Whether a kernel can be launched before the one in front of it is done."""
    return bool(torch.cuda.get_device_capability()[0] >= 9)


def _launch(early: bool) -> dict[str, bool]:
    return {"launch_pdl": True} if early else {}


@triton.jit(do_not_specialize=["outputs"])
def _norm_linear(
    residual,
    gains,
    weight,
    bias,
    result,
    eps,
    outputs,
    SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    BIAS: tl.constexpr,
    EARLY: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    real = row < outputs
    mask = column < SIZE
    matrix = tl.load(weight + row[:, None].to(tl.int64) * SIZE + column[None, :], real[:, None] & mask[None, :], 0)
    weighted = matrix.to(tl.float32) * tl.load(gains + column, mask, 0)[None, :]
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    states = tl.load(residual + column, mask, 0)
    product = tl.sum(weighted * states[None, :], 1) * tl.rsqrt(tl.sum(states * states) / SIZE + eps)
    if BIAS:
        product += tl.load(bias + row, real, 0).to(tl.float32)
    tl.store(result + row, product.to(result.dtype.element_ty), real)


@triton.jit(do_not_specialize=["outputs"])
def _norm_gate(
    residual,
    gains,
    weight,
    result,
    eps,
    outputs,
    SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    real = row < outputs
    mask = column < SIZE
    place = weight + row[:, None].to(tl.int64) * SIZE + column[None, :]
    gate = tl.load(place, real[:, None] & mask[None, :], 0)
    up = tl.load(place + outputs.to(tl.int64) * SIZE, real[:, None] & mask[None, :], 0)
    gain = tl.load(gains + column, mask, 0)[None, :]
    gate, up = gate.to(tl.float32) * gain, up.to(tl.float32) * gain
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    states = tl.load(residual + column, mask, 0)
    inverse = tl.rsqrt(tl.sum(states * states) / SIZE + eps)
    first = tl.sum(gate * states[None, :], 1) * inverse
    second = tl.sum(up * states[None, :], 1) * inverse
    gated = first / (1 + tl.exp(-first)) * second
    tl.store(result + row, gated.to(result.dtype.element_ty), real)


@triton.jit(do_not_specialize=["outputs"])
def _linear_add(
    states,
    weight,
    bias,
    residual,
    outputs,
    SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    BIAS: tl.constexpr,
    EARLY: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real = row < outputs
    place = weight + row[:, None].to(tl.int64) * SIZE
    column = tl.arange(0, BLOCK)
    mask = column < SIZE
    matrix = tl.load(place + column[None, :], real[:, None] & mask[None, :], 0)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    product = tl.sum(matrix.to(tl.float32) * tl.load(states + column, mask, 0).to(tl.float32)[None, :], 1)
    for begin in range(BLOCK, SIZE, BLOCK):
        column = begin + tl.arange(0, BLOCK)
        mask = column < SIZE
        matrix = tl.load(place + column[None, :], real[:, None] & mask[None, :], 0)
        product += tl.sum(matrix.to(tl.float32) * tl.load(states + column, mask, 0).to(tl.float32)[None, :], 1)
    if BIAS:
        product += tl.load(bias + row, real, 0).to(tl.float32)
    tl.store(residual + row, tl.load(residual + row, real, 0) + product, real)


@triton.jit(do_not_specialize=["width"])
def _attend_one(
    qkv,
    positions,
    rows,
    tables,
    cosine,
    sine,
    query_gains,
    key_gains,
    keys,
    values,
    result,
    eps,
    width,
    scale,
    QUERY: tl.constexpr,
    KV: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUP: tl.constexpr,
    PADDED: tl.constexpr,
    KEYS: tl.constexpr,
    NORM: tl.constexpr,
    EARLY: tl.constexpr,
    PRECISION: tl.constexpr,
):
    HALF: tl.constexpr = SIZE // 2
    kv = tl.program_id(0)
    feature = tl.arange(0, SIZE)
    # The other half of a rotated pair, and the sign that its sine takes.
    partner = (feature + HALF) % SIZE
    sign = tl.where(feature < HALF, -1.0, 1.0)
    # What was before this token is there already.
    position = tl.load(positions).to(tl.int64)
    table = tables + tl.load(rows).to(tl.int64) * width
    cos = tl.load(cosine + position * HALF + feature % HALF)
    sin = tl.load(sine + position * HALF + feature % HALF) * sign
    own = tl.arange(0, KEYS)
    inside = own < position
    blocks = tl.load(table + own // BLOCK, inside, 0).to(tl.int64)
    offset = ((blocks * KV + kv) * BLOCK + own % BLOCK) * SIZE
    past = tl.load(keys + offset[None, :] + feature[:, None], inside[None, :], 0)
    then = tl.load(values + offset[:, None] + feature[None, :], inside[:, None], 0)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()

    begin = qkv + (QUERY + kv) * SIZE
    key = tl.load(begin + feature).to(tl.float32)
    other = tl.load(begin + partner).to(tl.float32)
    value = tl.load(qkv + (QUERY + KV + kv) * SIZE + feature)
    head = tl.arange(0, PADDED)
    real = head < GROUP
    begin = qkv + (kv * GROUP + head)[:, None] * SIZE
    query = tl.load(begin + feature[None, :], real[:, None], 0).to(tl.float32)
    others = tl.load(begin + partner[None, :], real[:, None], 0).to(tl.float32)
    if NORM:
        inverse = tl.rsqrt(tl.sum(key * key) / SIZE + eps)
        key = key * inverse * tl.load(key_gains + feature)
        other = other * inverse * tl.load(key_gains + partner)
        inverses = tl.rsqrt(tl.sum(query * query, 1) / SIZE + eps)[:, None]
        query = query * inverses * tl.load(query_gains + feature)[None, :]
        others = others * inverses * tl.load(query_gains + partner)[None, :]
    key = (key * cos + other * sin).to(keys.dtype.element_ty)
    query = (query * cos[None, :] + others * sin[None, :]).to(keys.dtype.element_ty)
    block = tl.load(table + position // BLOCK).to(tl.int64)
    place = ((block * KV + kv) * BLOCK + position % BLOCK) * SIZE + feature
    tl.store(keys + place, key)
    tl.store(values + place, value)

    highest = tl.sum(query.to(tl.float32) * key.to(tl.float32)[None, :], 1) * scale
    total = tl.full([PADDED], 1.0, tl.float32)
    sums = tl.zeros([PADDED, SIZE], tl.float32) + value.to(tl.float32)[None, :]
    for start in range(0, position, KEYS):
        scores = tl.dot(query, past, input_precision=PRECISION) * scale
        scores = tl.where((start + own < position)[None, :], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        faded = tl.exp2(highest - higher)
        sums = sums * faded[:, None] + tl.dot(weights.to(then.dtype), then, input_precision=PRECISION)
        total = total * faded + tl.sum(weights, 1)
        highest = higher
        further = start + KEYS + own
        inside = further < position
        blocks = tl.load(table + further // BLOCK, inside, 0).to(tl.int64)
        offset = ((blocks * KV + kv) * BLOCK + further % BLOCK) * SIZE
        past = tl.load(keys + offset[None, :] + feature[:, None], inside[None, :], 0)
        then = tl.load(values + offset[:, None] + feature[None, :], inside[:, None], 0)
    attended = (sums / total[:, None]).to(result.dtype.element_ty)
    tl.store(result + (kv * GROUP + head)[:, None] * SIZE + feature[None, :], attended, real[:, None])
