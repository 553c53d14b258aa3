"""nano's number format in torch: 8 bits a weight, one power of two a row; and weights rounded so for the forward pass.

The twin of `models.weights.quantize_rows` (numpy), equal bit for bit, fast enough to run at every training step.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_LARGEST = 127


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 `[rows, columns]` and int8 exponents `[rows]` with `weight ~ int8 * 2**exponent`, for float32 `[rows, columns]`.

    The exponent is the least that needs no clipping.
    """
    mantissa, exponent = torch.frexp(weight.abs().amax(dim=1) / _LARGEST)
    exponent = (exponent - (mantissa == 0.5).to(exponent.dtype)).clamp(-126, 127)
    scaled = torch.ldexp(weight, -exponent[:, None])
    return scaled.round().clamp(-_LARGEST, _LARGEST).to(torch.int8), exponent.to(torch.int8)


def rounded(weight: Tensor) -> Tensor:
    """The values that the product will hold, in float32: matrices quantised by row, vectors rounded to bfloat16."""
    if weight.ndim != 2:
        return weight.bfloat16().float()
    values, exponents = quantize_rows(weight)
    return torch.ldexp(values.float(), exponents[:, None].int())


def rounded_all(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: rounded(weight) for name, weight in weights.items()}
