"""What the kernels compute, in plain PyTorch: the same functions, on any device, in any precision.

Slow and easy to read: the engine runs on these where there is no GPU, and the kernels are tested against them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.shapes import Heads


def embed(tokens: Tensor, embedding: Tensor, gains: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The residual stream, float32 `[tokens, hidden]`, and its norm in the embedding's precision."""
    residual = embedding[tokens.long()].float()
    return residual, _norm(residual, gains, eps).to(embedding.dtype)


def add_norm(residual: Tensor, update: Tensor, gains: Tensor, eps: float) -> Tensor:
    """Add `update` `[tokens, hidden]` to the residual stream in place; returns its norm in the update's precision."""
    residual += update
    return _norm(residual, gains, eps).to(update.dtype)


def norm(residual: Tensor, gains: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    """The norm of the residual stream."""
    return _norm(residual, gains, eps).to(dtype)


def gather_add_norm(residual: Tensor, update: Tensor, rows: Tensor, gains: Tensor, eps: float) -> Tensor:
    """As `add_norm`, for some rows only, `[rows, hidden]`; the residual stream stays as it is."""
    chosen = rows.long()
    return _norm(residual[chosen] + update[chosen], gains, eps).to(update.dtype)


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
    """Queries `[tokens, query heads, size]`, normalised (where there are gains) and rotated; keys and values go into
    the cache, `[blocks, kv heads, BLOCK_SIZE, size]`, at the place of their token's position in its row's blocks.
    """
    count = len(qkv)
    query, key, value = torch.split(qkv.view(count, -1, heads.size), [heads.query, heads.kv, heads.kv], dim=1)
    cos, sin = cosine[positions.long()][:, None], sine[positions.long()][:, None]
    query, key = query.float(), key.float()
    if query_gains is not None and key_gains is not None:
        query, key = _norm(query, query_gains, eps), _norm(key, key_gains, eps)
    query, key = _rotate(query, cos, sin), _rotate(key, cos, sin)
    blocks = tables[rows.long(), (positions // BLOCK_SIZE).long()].long()
    within = (positions % BLOCK_SIZE).long()
    keys[blocks, :, within] = key.to(keys.dtype)
    values[blocks, :, within] = value.to(values.dtype)
    return query.to(qkv.dtype)


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
    """Causal attention of each tile's tokens to all of their sequence so far, `[tokens, query heads * size]`."""
    result = torch.zeros_like(query)
    parts = zip(*(part.tolist() for part in (tile_starts, tile_counts, tile_positions, tile_rows)), strict=True)
    for start, count, position, row in parts:
        if not count:
            continue
        end = position + count
        blocks = tables[row, : -(-end // BLOCK_SIZE)].long()
        key = keys[blocks].transpose(0, 1).flatten(1, 2)[:, :end].float()
        value = values[blocks].transpose(0, 1).flatten(1, 2)[:, :end].float()
        key, value = (part.repeat_interleave(heads.query // heads.kv, dim=0) for part in (key, value))
        scores = query[start : start + count].float().transpose(0, 1) @ key.transpose(1, 2) * heads.size**-0.5
        seen = torch.arange(end, device=query.device) <= torch.arange(position, end, device=query.device)[:, None]
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        result[start : start + count] = (weights @ value).transpose(0, 1).to(query.dtype)
    return result.flatten(1)


def gate(gate_up: Tensor) -> Tensor:
    """SiLU of the first half of the columns times the second half."""
    first, second = gate_up.float().chunk(2, dim=1)
    return (torch.nn.functional.silu(first) * second).to(gate_up.dtype)


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`[tokens, inputs]` by `[outputs, inputs]`."""
    return torch.nn.functional.linear(states, weight, bias)


def score(hidden: Tensor, weight: Tensor) -> Tensor:
    """Of the rows of `hidden @ weight.T`, float32 `[3, rows]`: the argmax (ties to the lowest id; to be viewed as
    int32), the logarithm of its softmax, and the logarithm of the row's sum of exponentials."""
    logits = project(hidden, weight)
    normalizers = logits.logsumexp(1)
    highest = logits.max(1, keepdim=True).values
    ids = torch.arange(logits.shape[1], device=logits.device).expand_as(logits)
    argmax = torch.where(logits == highest, ids, logits.shape[1]).min(1).values.clamp_max(logits.shape[1] - 1)
    return torch.stack([argmax.int().view(torch.float32), highest[:, 0] - normalizers, normalizers])


def project(hidden: Tensor, weight: Tensor) -> Tensor:
    """Logits, float32 `[rows, vocabulary]`."""
    return hidden.float() @ weight.float().T


def listed(hidden: Tensor, weight: Tensor, normalizers: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """Log-probabilities `[tokens]` of single tokens in single rows."""
    chosen = rows.long()
    logits = (hidden[chosen].float() * weight[tokens.long()].float()).sum(1)
    return logits - normalizers[chosen]


def copy_blocks(keys: Tensor, values: Tensor, origins: Tensor, targets: Tensor) -> None:
    """Copy whole blocks of the caches `[layers, blocks, kv heads, BLOCK_SIZE, size]`."""
    keys[:, targets.long()] = keys[:, origins.long()]
    values[:, targets.long()] = values[:, origins.long()]


def advance(
    tokens: Tensor, positions: Tensor, argmax: Tensor, logprobs: Tensor, step: Tensor, chain: Tensor, chances: Tensor
) -> None:
    """Make the argmax the next token, one position on; note it, and its log-probability, in row `step` of the chain."""
    count = len(tokens)
    row = int(step)
    chain[row, :count] = argmax
    chances[row, :count] = logprobs
    tokens.copy_(argmax)
    positions += 1
    step += 1


def _norm(states: Tensor, gains: Tensor, eps: float) -> Tensor:
    return states * torch.rsqrt(states.square().mean(-1, keepdim=True) + eps) * gains.float()


def _rotate(states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = states.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
