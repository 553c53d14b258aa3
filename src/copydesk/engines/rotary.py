"""The frequencies of the rotary position embedding, with the scalings that Llama models use. Plain NumPy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig


def inverse_frequencies(config: ModelConfig) -> NDArray[np.float32]:
    """Radians a position, `[head_dim / 2]`. Errors: `ModelError` `model_unsupported` for an unknown scaling."""
    exponents = np.arange(0, config.head_dim, 2, dtype=np.float32) / np.float32(config.head_dim)
    plain = (1.0 / (np.float32(config.rope_theta) ** exponents)).astype(np.float32)
    scaling = config.rope_scaling
    if scaling is None:
        return plain
    kind = scaling.get("rope_type") or scaling.get("type")
    if kind == "linear":
        return plain / np.float32(scaling["factor"])
    if kind == "llama3":
        return _llama3(
            plain,
            factor=float(scaling["factor"]),
            low=float(scaling["low_freq_factor"]),
            high=float(scaling["high_freq_factor"]),
            trained_length=int(scaling["original_max_position_embeddings"]),
        )
    raise ModelError(
        f"{config.name}: rotary scaling {kind!r} is not supported; use a model without it, or with linear or llama3",
        code="model_unsupported",
    )


def _llama3(
    plain: NDArray[np.float32], *, factor: float, low: float, high: float, trained_length: int
) -> NDArray[np.float32]:
    """Slow waves are stretched by `factor`, fast ones kept, those between blended."""
    wavelength = 2 * math.pi / plain
    blend = (trained_length / wavelength - low) / (high - low)
    blended = (1 - blend) * plain / factor + blend * plain
    slow, fast = wavelength > trained_length / low, wavelength < trained_length / high
    return np.where(slow, plain / factor, np.where(fast, plain, blended)).astype(np.float32)
