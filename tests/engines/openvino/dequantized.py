"""What a compressed matrix stands for, in NumPy."""

from __future__ import annotations

import numpy as np

from copydesk.engines.openvino.compression import GROUP, Matrix


def values_of(matrix: Matrix) -> np.ndarray:
    """The values, float32 `[rows, columns]`, of a matrix in 8 or 4 bits."""
    stored = matrix.stored.astype(np.float32)
    if matrix.kind == "u4":
        codes = np.stack([matrix.stored & 15, matrix.stored >> 4], axis=-1)
        stored = codes.reshape(*matrix.stored.shape[:2], GROUP).astype(np.float32) - matrix.zero
    return (stored * matrix.scale).reshape(len(stored), -1)
