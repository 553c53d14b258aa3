"""nano's number format in torch: 8 bits a weight, one power of two a row; and weights rounded so for the forward pass.

The twin of `models.weights.quantize_rows` (numpy), equal bit for bit, fast enough to run at every training step.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_LARGEST = 127


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 `[..., rows, columns]` and int8 exponents `[..., rows]` with `weight ~ int8 * 2**exponent`, for float32.

    Each row's exponent is the least with which no value of it is clipped.
    """
    mantissa, exponent = torch.frexp(weight.abs().amax(dim=-1) / _LARGEST)
    exponent = (exponent - (mantissa == 0.5).to(exponent.dtype)).clamp(-126, 126)
    scaled = weight * _power_of_two(-exponent).unsqueeze(-1)
    return scaled.round().clamp(-_LARGEST, _LARGEST).to(torch.int8), exponent.to(torch.int8)


def rounded(weight: Tensor) -> Tensor:
    """The values that the product will hold, in float32: matrices quantised by row, vectors rounded to bfloat16."""
    if weight.ndim == 1:
        return weight.bfloat16().float()
    values, exponents = quantize_rows(weight)
    return values.float() * _power_of_two(exponents).unsqueeze(-1)


def rounded_all(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`rounded` of each; matrices of one size are done together, which a GPU finishes much sooner."""
    sizes: dict[torch.Size, list[str]] = {}
    for name, weight in weights.items():
        sizes.setdefault(weight.shape, []).append(name)
    found: dict[str, Tensor] = {}
    for size, names in sizes.items():
        members = [weights[name] for name in names]
        if len(size) == 1:
            found |= {name: rounded(member) for name, member in zip(names, members, strict=True)}
        else:
            found |= dict(zip(names, rounded(torch.stack(members)).unbind(), strict=True))
    return {name: found[name] for name in weights}


def _power_of_two(exponent: Tensor) -> Tensor:
    """Exactly `2**exponent` in float32, built from its bits: a GPU's power function may be a little off."""
    return ((exponent.int() + 127) << 23).view(torch.float32)
