"""Causal attention within packed sequences, by whichever kernel works on this machine.

Every kernel computes the same function; which one is used is found out by trying them in order. Knows no weights.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from copydesk.errors import CopydeskError
from copydesk.training.network import Attend, Shape

KERNELS = ("varlen", "varlen_expanded", "flex", "masked")
"""Fastest first: flash attention over ragged sequences (with shared or with copied key heads), flex attention with a
document mask, plain attention with a dense mask."""
_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.03}
"""Largest difference from the plain kernel in float32, as a share of the largest value, that rounding explains."""


@dataclass(frozen=True)
class Packed:
    """A kernel made ready: `attend` is the same function for every block, `context` makes a block's own argument for it
    from `bounds` (int32 `[segments + 1]`, rising from 0 to the number of tokens; repeats are empty segments)."""

    kernel: str
    attend: Attend
    context: Callable[[Tensor], Any]


def packed(kernel: str, *, tokens: int, row: int, longest: int) -> Packed:
    """Attention for blocks of `tokens` tokens; segments have at most `longest` and cross no multiple of `row`."""
    if kernel == "masked":
        return Packed(kernel, functools.partial(_masked, row), functools.partial(_row_mask, tokens, row))
    if kernel == "flex":
        return Packed(kernel, functools.partial(_flex, row), functools.partial(_block_mask, tokens, row))
    if kernel == "varlen":
        return Packed(kernel, functools.partial(_varlen, longest, _grouped_option()), _same)
    if kernel == "varlen_expanded":
        return Packed(kernel, functools.partial(_varlen_expanded, longest), _same)
    raise CopydeskError(f"Unknown attention kernel {kernel!r}; choose one of {', '.join(KERNELS)}.", code="usage")


def segment_of_each(bounds: Tensor, tokens: int) -> Tensor:
    """Index of the segment that each token belongs to, int64 `[tokens]`."""
    places = torch.arange(tokens, device=bounds.device, dtype=bounds.dtype)
    return torch.bucketize(places, bounds[1:], right=True)


def positions_of_each(bounds: Tensor, tokens: int) -> Tensor:
    """Position of each token within its segment, int64 `[tokens]`."""
    places = torch.arange(tokens, device=bounds.device)
    return places - bounds[segment_of_each(bounds, tokens)].long()


def choose(
    wanted: str, shape: Shape, device: torch.device, dtype: torch.dtype, *, tokens: int, row: int, longest: int
) -> Packed:
    """The kernel `wanted`, or for "auto" the first that runs here and agrees with the plain one, gradients included."""
    candidates = KERNELS if wanted == "auto" else (wanted,)
    for kernel in candidates:
        try:
            difference = _difference(kernel, shape, device, dtype, row=row, longest=longest)
        except Exception as error:
            sys.stderr.write(f"attention {kernel}: {type(error).__name__}: {str(error).splitlines()[0]}\n")
            continue
        sys.stderr.write(f"attention {kernel}: differs by {difference:.2g} from the plain one\n")
        if difference < _TOLERANCE[dtype]:
            return packed(kernel, tokens=tokens, row=row, longest=longest)
    raise CopydeskError(f"No attention kernel of {', '.join(candidates)} works here; try --set attention=masked.")


def _difference(
    kernel: str, shape: Shape, device: torch.device, dtype: torch.dtype, *, row: int, longest: int
) -> float:
    """Largest relative difference in output or gradients over ragged segments, empty ones among them."""
    generator = torch.Generator().manual_seed(0)
    bounds, start = [0], 0
    while start < 2 * row:
        length = min(1 + int(torch.randint(longest, (1,), generator=generator)), row - start % row)
        start += length
        bounds.append(start)
    device_bounds = torch.tensor([*bounds, 2 * row, 2 * row], dtype=torch.int32, device=device)
    sizes = (shape.num_attention_heads, shape.num_key_value_heads, shape.num_key_value_heads, shape.num_attention_heads)
    drawn = [torch.randn(2 * row, heads, shape.head_dim, generator=generator).to(device, dtype) for heads in sizes]
    found: list[list[Tensor]] = []
    for name, precision in ((kernel, dtype), ("masked", torch.float32)):
        attention = packed(name, tokens=2 * row, row=row, longest=longest)
        q, k, v = (x.to(precision).requires_grad_() for x in drawn[:3])
        out = attention.attend(q, k, v, attention.context(device_bounds))
        found.append([out.detach(), *torch.autograd.grad(out, (q, k, v), drawn[3].to(precision))])
    return max(float((one - plain).abs().max() / plain.abs().max()) for one, plain in zip(*found, strict=True))


def _same(bounds: Tensor) -> Tensor:
    return bounds


@functools.cache
def _grouped_option() -> bool:
    """Whether `varlen_attn` asks to be told about shared key heads (before torch 2.12 it takes them unasked)."""
    from torch.nn.attention.varlen import varlen_attn

    return "enable_gqa" in inspect.signature(varlen_attn).parameters


def _varlen(longest: int, grouped_option: bool, q: Tensor, k: Tensor, v: Tensor, bounds: Tensor) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    if grouped_option:
        return varlen_attn(q, k, v, bounds, bounds, longest, longest, window_size=(-1, 0), enable_gqa=True)  # type: ignore[return-value]
    return varlen_attn(q, k, v, bounds, bounds, longest, longest, window_size=(-1, 0))  # type: ignore[return-value]


def _varlen_expanded(longest: int, q: Tensor, k: Tensor, v: Tensor, bounds: Tensor) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    k, v = _expanded(k, q), _expanded(v, q)
    return varlen_attn(q, k, v, bounds, bounds, longest, longest, window_size=(-1, 0))  # type: ignore[return-value]


def _expanded(keys: Tensor, queries: Tensor) -> Tensor:
    return keys.repeat_interleave(queries.shape[-2] // keys.shape[-2], dim=-2)


def _rows(x: Tensor, row: int) -> Tensor:
    """`[tokens, heads, head_dim]` to `[rows, heads, row, head_dim]`."""
    return x.view(-1, row, *x.shape[1:]).transpose(1, 2)


def _row_mask(tokens: int, row: int, bounds: Tensor) -> Tensor:
    ids = segment_of_each(bounds, tokens).view(-1, 1, row)
    causal = torch.ones(row, row, dtype=torch.bool, device=bounds.device).tril()
    return (ids.unsqueeze(-1) == ids.unsqueeze(-2)) & causal


def _masked(row: int, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    k, v = _expanded(k, q), _expanded(v, q)
    out = F.scaled_dot_product_attention(_rows(q, row), _rows(k, row), _rows(v, row), attn_mask=mask)
    return out.transpose(1, 2).flatten(0, 1)


def _block_mask(tokens: int, row: int, bounds: Tensor) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    ids = segment_of_each(bounds, tokens).view(-1, row)

    def same_segment(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (query >= key) & (ids[batch, query] == ids[batch, key])

    return create_block_mask(same_segment, tokens // row, None, row, row, device=bounds.device)


@functools.cache
def _compiled_flex() -> Callable[..., Tensor]:
    from torch.nn.attention.flex_attention import flex_attention

    compiled: Callable[..., Tensor] = torch.compile(flex_attention)
    return compiled


def _flex(row: int, q: Tensor, k: Tensor, v: Tensor, mask: Any) -> Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    # Uncompiled, flex attention would write out every score.
    flex: Any = flex_attention if torch.compiler.is_compiling() else _compiled_flex()
    out: Tensor = flex(_rows(q, row), _rows(k, row), _rows(v, row), block_mask=mask, enable_gqa=True)
    return out.transpose(1, 2).flatten(0, 1)
