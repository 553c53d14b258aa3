"""The engine's Triton kernels, those of the head among them. What each computes stands in `reference`, whose functions
these equal up to rounding.

Norms, rotation and softmax are computed in float32 whatever the tensors' precision. Knows no model.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-any-return, attr-defined, type-arg, valid-type, misc"
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.head import listed, precision_of, project, score
from copydesk.engines.cuda.shapes import Heads

__all__ = [
    "add_norm",
    "advance",
    "attend",
    "copy_blocks",
    "embed",
    "gate",
    "gather_add_norm",
    "linear",
    "listed",
    "norm",
    "project",
    "rotate_and_store",
    "score",
]

_KEYS_AT_ONCE = 64
_COPIED_AT_ONCE = 4096
LOG2_E = 1.4426950408889634


def embed(tokens: Tensor, embedding: Tensor, gains: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    hidden = embedding.shape[1]
    residual = torch.empty(len(tokens), hidden, dtype=torch.float32, device=embedding.device)
    normed = torch.empty(len(tokens), hidden, dtype=embedding.dtype, device=embedding.device)
    _embed[(len(tokens),)](tokens, embedding, gains, residual, normed, eps, hidden, triton.next_power_of_2(hidden))
    return residual, normed


def add_norm(residual: Tensor, update: Tensor, gains: Tensor, eps: float) -> Tensor:
    normed = torch.empty_like(update)
    hidden = update.shape[1]
    _add_norm[(len(update),)](
        residual, update, residual, gains, normed, eps, hidden, triton.next_power_of_2(hidden), GATHER=False
    )
    return normed


def norm(residual: Tensor, gains: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    normed = torch.empty_like(residual, dtype=dtype)
    hidden = residual.shape[1]
    _norm[(len(residual),)](residual, gains, normed, eps, hidden, triton.next_power_of_2(hidden))
    return normed


def gather_add_norm(residual: Tensor, update: Tensor, rows: Tensor, gains: Tensor, eps: float) -> Tensor:
    hidden = update.shape[1]
    normed = torch.empty(len(rows), hidden, dtype=update.dtype, device=update.device)
    if len(rows):
        _add_norm[(len(rows),)](
            residual, update, rows, gains, normed, eps, hidden, triton.next_power_of_2(hidden), GATHER=True
        )
    return normed


def rotate_and_store(
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
) -> Tensor:
    query = torch.empty(len(qkv), heads.query, heads.size, dtype=qkv.dtype, device=qkv.device)
    _rotate_and_store[(len(qkv),)](
        qkv,
        positions,
        rows,
        tables,
        cosine,
        sine,
        qkv if query_gains is None else query_gains,
        qkv if key_gains is None else key_gains,
        query,
        keys,
        values,
        eps,
        tables.shape[1],
        heads.query,
        heads.kv,
        heads.size,
        BLOCK_SIZE,
        triton.next_power_of_2(heads.query + heads.kv),
        triton.next_power_of_2(heads.kv),
        NORM=query_gains is not None,
    )
    return query


def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    tile_starts: Tensor,
    tile_counts: Tensor,
    tile_positions: Tensor,
    tile_rows: Tensor,
    tables: Tensor,
    heads: Heads,
    tile: int,
) -> Tensor:
    result = torch.empty(len(query), heads.query * heads.size, dtype=query.dtype, device=query.device)
    group = heads.query // heads.kv
    padded = triton.next_power_of_2(group)
    _attend[(len(tile_starts), heads.kv)](
        query,
        keys,
        values,
        result,
        tile_starts,
        tile_counts,
        tile_positions,
        tile_rows,
        tables,
        tables.shape[1],
        heads.size**-0.5 * LOG2_E,
        heads.query,
        heads.kv,
        heads.size,
        BLOCK_SIZE,
        group,
        padded,
        max(tile, 16 // padded),
        _KEYS_AT_ONCE,
        PRECISION=precision_of(query),
        num_warps=8 if tile * padded >= 128 else 4,
        num_stages=2,
    )
    return result


def gate(gate_up: Tensor) -> Tensor:
    count, columns = len(gate_up), gate_up.shape[1] // 2
    result = torch.empty(count, columns, dtype=gate_up.dtype, device=gate_up.device)
    _gate[(count, triton.cdiv(columns, 1024))](gate_up, result, columns, 1024)
    return result


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.nn.functional.linear(states, weight, bias)


def copy_blocks(keys: Tensor, values: Tensor, origins: Tensor, targets: Tensor) -> None:
    size = keys[0, 0].numel()
    if len(origins):
        grid = (len(origins), len(keys), triton.cdiv(size, _COPIED_AT_ONCE))
        _copy_blocks[grid](keys, values, origins, targets, keys.stride(0), size, _COPIED_AT_ONCE)


def advance(
    tokens: Tensor, positions: Tensor, argmax: Tensor, logprobs: Tensor, step: Tensor, chain: Tensor, chances: Tensor
) -> None:
    _advance[(1,)](
        tokens, positions, argmax, logprobs, step, chain, chances, len(tokens), triton.next_power_of_2(len(tokens))
    )


@triton.jit
def _store_norm(states, gains, normed, eps, columns, mask, SIZE: tl.constexpr):
    inverse = tl.rsqrt(tl.sum(states * states) / SIZE + eps)
    gain = tl.load(gains + columns, mask, 0).to(tl.float32)
    tl.store(normed + columns, (states * inverse * gain).to(normed.dtype.element_ty), mask)


@triton.jit
def _embed(tokens, embedding, gains, residual, normed, eps, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    token = tl.load(tokens + row).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    states = tl.load(embedding + token * SIZE + columns, mask, 0).to(tl.float32)
    tl.store(residual + row * SIZE + columns, states, mask)
    _store_norm(states, gains, normed + row * SIZE, eps, columns, mask, SIZE)


@triton.jit
def _norm(residual, gains, normed, eps, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    states = tl.load(residual + row * SIZE + columns, mask, 0)
    _store_norm(states, gains, normed + row * SIZE, eps, columns, mask, SIZE)


@triton.jit(do_not_specialize_on_alignment=["rows"])
def _add_norm(
    residual, update, rows, gains, normed, eps, SIZE: tl.constexpr, BLOCK: tl.constexpr, GATHER: tl.constexpr
):
    program = tl.program_id(0).to(tl.int64)
    row = program
    if GATHER:
        row = tl.load(rows + program).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    states = tl.load(residual + row * SIZE + columns, mask, 0)
    states += tl.load(update + row * SIZE + columns, mask, 0).to(tl.float32)
    if not GATHER:
        tl.store(residual + row * SIZE + columns, states, mask)
    _store_norm(states, gains, normed + program * SIZE, eps, columns, mask, SIZE)


@triton.jit(do_not_specialize=["width"])
def _rotate_and_store(
    qkv,
    positions,
    rows,
    tables,
    cosine,
    sine,
    query_gains,
    key_gains,
    query,
    keys,
    values,
    eps,
    width,
    QUERY: tl.constexpr,
    KV: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    HEADS: tl.constexpr,
    VALUES: tl.constexpr,
    NORM: tl.constexpr,
):
    HALF: tl.constexpr = SIZE // 2
    token = tl.program_id(0).to(tl.int64)
    position = tl.load(positions + token).to(tl.int64)
    table = tables + tl.load(rows + token).to(tl.int64) * width
    block = tl.load(table + position // BLOCK).to(tl.int64)
    begin = qkv + token * (QUERY + 2 * KV) * SIZE

    head = tl.arange(0, HEADS)[:, None]
    feature = tl.arange(0, HALF)[None, :]
    real = head < QUERY + KV
    first = tl.load(begin + head * SIZE + feature, real, 0).to(tl.float32)
    second = tl.load(begin + head * SIZE + HALF + feature, real, 0).to(tl.float32)
    if NORM:
        mean = (tl.sum(first * first, 1) + tl.sum(second * second, 1)) / SIZE
        inverse = tl.rsqrt(mean + eps)[:, None]
        gain = tl.where(head < QUERY, tl.load(query_gains + feature), tl.load(key_gains + feature)).to(tl.float32)
        first = first * inverse * gain
        gain = tl.where(head < QUERY, tl.load(query_gains + HALF + feature), tl.load(key_gains + HALF + feature))
        second = second * inverse * gain.to(tl.float32)
    cos = tl.load(cosine + position * HALF + feature)
    sin = tl.load(sine + position * HALF + feature)
    turned_first = first * cos - second * sin
    turned_second = second * cos + first * sin

    own = query + token * QUERY * SIZE + head * SIZE + feature
    tl.store(own, turned_first.to(query.dtype.element_ty), head < QUERY)
    tl.store(own + HALF, turned_second.to(query.dtype.element_ty), head < QUERY)
    place = keys + ((block * KV + head - QUERY) * BLOCK + position % BLOCK) * SIZE + feature
    is_key = (head >= QUERY) & real
    tl.store(place, turned_first.to(keys.dtype.element_ty), is_key)
    tl.store(place + HALF, turned_second.to(keys.dtype.element_ty), is_key)

    head = tl.arange(0, VALUES)[:, None]
    feature = tl.arange(0, SIZE)[None, :]
    value = tl.load(begin + (QUERY + KV + head) * SIZE + feature, head < KV, 0)
    place = values + ((block * KV + head) * BLOCK + position % BLOCK) * SIZE + feature
    tl.store(place, value.to(values.dtype.element_ty), head < KV)


@triton.jit(do_not_specialize=["width"])
def _attend(
    query,
    keys,
    values,
    result,
    tile_starts,
    tile_counts,
    tile_positions,
    tile_rows,
    tables,
    width,
    scale,
    QUERY: tl.constexpr,
    KV: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUP: tl.constexpr,
    PADDED: tl.constexpr,
    TILE: tl.constexpr,
    KEYS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    tile = tl.program_id(0)
    kv = tl.program_id(1)
    count = tl.load(tile_counts + tile)
    if count == 0:
        return
    position = tl.load(tile_positions + tile)
    table = tables + tl.load(tile_rows + tile).to(tl.int64) * width
    # The query heads that share these keys stand one after the other, for each token.
    row = tl.arange(0, TILE * PADDED)
    token = row // PADDED
    real = (token < count) & (row % PADDED < GROUP)
    feature = tl.arange(0, SIZE)
    own = (tl.load(tile_starts + tile) + token).to(tl.int64) * QUERY + kv * GROUP + row % PADDED
    queries = tl.load(query + own[:, None] * SIZE + feature[None, :], real[:, None], 0)
    end = position + count
    highest = tl.full([TILE * PADDED], float("-inf"), tl.float32)
    total = tl.zeros([TILE * PADDED], tl.float32)
    sums = tl.zeros([TILE * PADDED, SIZE], tl.float32)
    for begin in range(0, end, KEYS):
        place = begin + tl.arange(0, KEYS)
        inside = place < end
        block = tl.load(table + place // BLOCK, inside, 0).to(tl.int64)
        offset = ((block * KV + kv) * BLOCK + place % BLOCK) * SIZE
        key = tl.load(keys + offset[None, :] + feature[:, None], inside[None, :], 0)
        scores = tl.dot(queries, key, input_precision=PRECISION) * scale
        scores = tl.where(place[None, :] <= (position + token)[:, None], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        faded = tl.exp2(highest - higher)
        value = tl.load(values + offset[:, None] + feature[None, :], inside[:, None], 0)
        sums = sums * faded[:, None] + tl.dot(weights.to(value.dtype), value, input_precision=PRECISION)
        total = total * faded + tl.sum(weights, 1)
        highest = higher
    attended = (sums / total[:, None]).to(result.dtype.element_ty)
    tl.store(result + own[:, None] * SIZE + feature[None, :], attended, real[:, None])


@triton.jit
def _gate(gate_up, result, size, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < size
    first = tl.load(gate_up + row * 2 * size + columns, mask, 0).to(tl.float32)
    second = tl.load(gate_up + row * 2 * size + size + columns, mask, 0).to(tl.float32)
    gated = first / (1 + tl.exp(-first)) * second
    tl.store(result + row * size + columns, gated.to(result.dtype.element_ty), mask)


@triton.jit(do_not_specialize_on_alignment=["origins", "targets"])
def _copy_blocks(keys, values, origins, targets, layer, size, BLOCK: tl.constexpr):
    origin = tl.load(origins + tl.program_id(0)).to(tl.int64)
    target = tl.load(targets + tl.program_id(0)).to(tl.int64)
    if origin == target:
        return
    offset = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    mask = offset < size
    begin = tl.program_id(1).to(tl.int64) * layer
    read, written = begin + origin * size + offset, begin + target * size + offset
    tl.store(keys + written, tl.load(keys + read, mask), mask)
    tl.store(values + written, tl.load(values + read, mask), mask)


@triton.jit(do_not_specialize=["count"], do_not_specialize_on_alignment=["logprobs", "argmax"])
def _advance(tokens, positions, argmax, logprobs, step, chain, chances, count, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    mask = column < count
    row = tl.load(step)
    best = tl.load(argmax + column, mask, 0)
    tl.store(chain + row * count + column, best, mask)
    tl.store(chances + row * count + column, tl.load(logprobs + column, mask, 0), mask)
    tl.store(tokens + column, best, mask)
    tl.store(positions + column, tl.load(positions + column, mask, 0) + 1, mask)
    tl.debug_barrier()
    tl.store(step, row + 1)
