"""The built-in model's folder, as written after training."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from copydesk.models.config import ModelConfig
from copydesk.models.tokenizer import Tokenizer
from copydesk.training.nano import write_nano
from copydesk.training.network import Qwen3, Shape
from copydesk.training.quantize import rounded
from copydesk.training.train import read_weights

SHAPE = Shape(60, 32, 48, 2, 2, 1, 16, max_position_embeddings=64)


def test_a_written_folder_is_a_model_of_ours(toy_folder: Path, tmp_path: Path) -> None:
    network = Qwen3(SHAPE)
    network.initialise(5)
    weights = {name: weight.detach() for name, weight in network.named_parameters()}
    end = Tokenizer(toy_folder).eos_token_ids
    size = write_nano(tmp_path / "one", weights, SHAPE, toy_folder, end, ["address"])
    assert size == sum(path.stat().st_size for path in (tmp_path / "one").iterdir())
    config = ModelConfig.read(tmp_path / "one")
    assert (config.model_type, config.hidden_size, config.num_key_value_heads, config.head_dim) == ("qwen3", 32, 1, 16)
    assert config.eos_token_ids == end
    read = read_weights(tmp_path / "one")
    assert all(torch.equal(read[name], rounded(weight)) for name, weight in weights.items())
    assert Tokenizer(tmp_path / "one").encode("Ann 12") == Tokenizer(toy_folder).encode("Ann 12")
    assert json.loads((tmp_path / "one" / "copydesk.json").read_text())["tasks"] == ["address"]


def test_equal_weights_make_equal_files(toy_folder: Path, tmp_path: Path) -> None:
    network = Qwen3(SHAPE)
    weights = {name: weight.detach() for name, weight in network.named_parameters()}
    for name in ("one", "two"):
        write_nano(tmp_path / name, weights, SHAPE, toy_folder, (5,), [])
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
