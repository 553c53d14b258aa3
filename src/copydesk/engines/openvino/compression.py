"""A model's matrices as the graph stores them: as in the folder, in 8 bits a row, or in 4 bits a group of 64.

Plain NumPy; knows nothing of OpenVINO or of which matrix is what.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from copydesk.models.weights import Tensor

Bits = Literal[4, 8, 16]
"""Bits a weight: 4 and 8 compress on load, 16 leaves the matrix as the folder has it."""
GROUP = 64
"""Neighbouring weights of a row that share a scale in 4 bits."""
_ROWS = 512
"""Rows compressed at a time: they stay in the processor's cache, and the float copy stays small."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix `[rows, columns]`: `value = (stored - zero) * scale`, stored and scaled row by row or group by group."""

    kind: Literal["f32", "f16", "bf16", "i8", "u4"]
    stored: NDArray[Any]
    """`[rows, columns]`; bf16 as uint16; `u4` as uint8 `[rows, groups, GROUP / 2]`, the lower half first."""
    scale: NDArray[np.float32] | None = None
    """`[rows, 1]`, of `u4` `[rows, groups, 1]`."""
    zero: NDArray[np.uint8] | None = None
    """`u4` only: a number of 0 to 15 for each group, `[rows, groups, 1]`."""

    @property
    def columns(self) -> int:
        """How many weights a row has."""
        return int(np.prod(self.stored.shape[1:])) * (2 if self.kind == "u4" else 1)


def compress(tensor: Tensor, bits: Bits) -> Matrix:
    """The matrix in at most `bits` bits a weight; 4 bits become 8 where the rows are no whole number of groups."""
    if bits == 4 and tensor.array.shape[1] % GROUP == 0:
        return _to_4_bits(tensor)
    if tensor.exponents is not None:
        return Matrix("i8", tensor.array, np.ldexp(np.float32(1), tensor.exponents.astype(np.int32))[:, None])
    if bits == 16:
        return Matrix(tensor.dtype, tensor.array)
    return _to_8_bits(tensor)


def _to_8_bits(tensor: Tensor) -> Matrix:
    rows, columns = tensor.array.shape
    stored, scale = np.empty((rows, columns), np.int8), np.empty((rows, 1), np.float32)
    for start in range(0, rows, _ROWS):
        part = slice(start, start + _ROWS)
        values = _float32_rows(tensor, part)
        highest = np.maximum(values.max(1, keepdims=True), -values.min(1, keepdims=True))
        scale[part] = np.where(highest == 0, 1, highest / 127)
        stored[part] = np.rint(values / scale[part])
    return Matrix("i8", stored, scale)


def _to_4_bits(tensor: Tensor) -> Matrix:
    rows, columns = tensor.array.shape
    groups = columns // GROUP
    stored = np.empty((rows, groups, GROUP // 2), np.uint8)
    scale, zero = np.empty((rows, groups, 1), np.float32), np.empty((rows, groups, 1), np.uint8)
    for start in range(0, rows, _ROWS):
        part = slice(start, start + _ROWS)
        values = _float32_rows(tensor, part).reshape(-1, groups, GROUP)
        lowest = np.minimum(values.min(2, keepdims=True), 0)
        span = np.maximum(values.max(2, keepdims=True), 0) - lowest
        scale[part] = np.where(span == 0, 1, span / 15)
        zero[part] = np.rint(-lowest / scale[part])
        codes = np.clip(np.rint(values / scale[part]) + zero[part], 0, 15).astype(np.uint8)
        stored[part] = codes[..., 0::2] | (codes[..., 1::2] << 4)
    return Matrix("u4", stored, scale, zero)


def _float32_rows(tensor: Tensor, rows: slice) -> NDArray[np.float32]:
    exponents = None if tensor.exponents is None else tensor.exponents[rows]
    return dataclasses.replace(tensor, array=tensor.array[rows], exponents=exponents).float32()
