"""The bound on the stream's length holds, and is not infinitely far off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from copydesk.models.config import ModelConfig
from copydesk.models.weights import Tensor
from copydesk.training.stream_length import longest_stream
from engines.random_folders import Shape, random_weights, write_folder
from training.exact_network import stream


@pytest.mark.parametrize("shape", [Shape(), Shape(heads=6, kv_heads=1, layers=4)], ids=["two layers", "four layers"])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_no_text_gets_longer(shape: Shape, scale: float, tmp_path: Path) -> None:
    config = ModelConfig.read(write_folder(tmp_path, shape))
    weights = {name: scale * values if values.ndim == 2 else values for name, values in random_weights(shape, 1)}
    bound = longest_stream({name: Tensor(values, "f32") for name, values in weights.items()}, config)
    tokens = np.random.default_rng(2).integers(shape.vocab_size, size=64)
    longest = np.linalg.norm(stream(weights, config, tokens.tolist()), axis=1).max()
    assert longest < bound < 3000 * longest


def test_it_is_reached_by_the_embedding_alone(tmp_path: Path) -> None:
    shape = Shape(layers=1)
    config = ModelConfig.read(write_folder(tmp_path, shape))
    silent = ("o_proj.weight", "down_proj.weight")
    weights = {name: 0 * values if name.endswith(silent) else values for name, values in random_weights(shape, 1)}
    bound = longest_stream({name: Tensor(values, "f32") for name, values in weights.items()}, config)
    rows = weights["model.embed_tokens.weight"]
    assert bound == pytest.approx(np.linalg.norm(rows.astype(np.float64), axis=1).max(), rel=1e-12)
