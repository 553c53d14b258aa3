"""Weights as the network reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from copydesk.engines.cuda.weights import load_network
from copydesk.engines.tensors import Tensors
from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Weights
from engines.random_folders import Form, Shape, write_folder


@pytest.mark.parametrize("form", ["f32", "bf16", "nano"])
def test_matrices_are_fused_and_hold_what_the_folder_has(form: Form, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape(tied=False), form)
    config, weights = ModelConfig.read(folder), Weights(folder)
    network = load_network(Tensors(weights, config), config, torch.device("cpu"), torch.float32, 100)
    name = "model.layers.1.self_attn"
    joined = np.concatenate([weights[f"{name}.{part}_proj.weight"].float32() for part in "qkv"])
    np.testing.assert_array_equal(network.layers[1].qkv.numpy(), joined)
    joined = np.concatenate([weights[f"model.layers.0.mlp.{part}_proj.weight"].float32() for part in ("gate", "up")])
    np.testing.assert_array_equal(network.layers[0].gate_up.numpy(), joined)
    np.testing.assert_array_equal(network.projection.numpy(), weights["lm_head.weight"].float32())
    assert network.cosine.shape == (100, config.head_dim // 2)
    matrices = [part for name, part in weights.items() if part.array.ndim == 2]
    assert network.nbytes == 4 * sum(part.array.size for part in matrices)


def test_a_tied_projection_is_the_embedding_itself(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape(), "nano")
    config = ModelConfig.read(folder)
    network = load_network(Tensors(Weights(folder), config), config, torch.device("cpu"), torch.bfloat16, 10)
    assert network.projection is network.embedding
    expected = Weights(folder)["model.embed_tokens.weight"].float32()  # exact in bfloat16
    np.testing.assert_array_equal(network.embedding.float().numpy(), expected)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", Shape(layers=2))
    config = ModelConfig.read(write_folder(tmp_path / "other", Shape(layers=3)))
    with pytest.raises(ModelError, match=r"the weights lack model\.layers\.2"):
        load_network(Tensors(Weights(folder), config), config, torch.device("cpu"), torch.float32, 10)
