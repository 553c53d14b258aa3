"""Tensors are picked by their Hugging Face names, in the shapes that the configuration demands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.tensors import Tensors
from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Weights
from engines.random_folders import Shape, random_weights, write_folder

SHAPE = Shape(tied=False, attention_bias=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path, SHAPE)


@pytest.fixture
def config(folder: Path) -> ModelConfig:
    return ModelConfig.read(folder)


def test_every_tensor_can_be_picked(folder: Path, config: ModelConfig) -> None:
    tensors = Tensors(Weights(folder), config)
    stored = dict(random_weights(SHAPE, 0))
    assert tensors.count == sum(values.size for values in stored.values())
    picked = {"model.embed_tokens.weight": tensors.embedding().array, "lm_head.weight": tensors.projection().array}
    for name in set(stored) - set(picked):
        stem, _, kind = name.rpartition(".")
        if kind == "bias":
            picked[name] = tensors.bias(stem)
        elif stem.endswith("norm"):
            picked[name] = tensors.norm(stem)
        else:
            picked[name] = tensors.linear(stem).array
    for name, values in stored.items():
        np.testing.assert_array_equal(picked[name], values)


def test_no_bias_where_the_configuration_has_none(folder: Path, config: ModelConfig) -> None:
    name = "model.layers.0.self_attn.q_proj"
    assert Tensors(Weights(folder), replace(config, attention_bias=False)).bias(name) is None
    assert Tensors(Weights(folder), config).bias("model.layers.0.mlp.up_proj") is None


def test_a_missing_bias_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    tensors = Tensors(Weights(folder), replace(ModelConfig.read(folder), attention_bias=True))
    with pytest.raises(ModelError, match=r"lack model\.layers\.0\.self_attn\.o_proj\.bias; fetch"):
        tensors.bias("model.layers.0.self_attn.o_proj")


def test_tensors_that_nothing_picked_are_named(folder: Path, config: ModelConfig) -> None:
    weights = dict(Weights(folder))
    picked = {name: weights[name] for name in ("model.embed_tokens.weight", "model.norm.weight")}
    tensors = Tensors(picked | {"model.layers.0.self_attn.rotary_emb.inv_freq": weights["model.norm.weight"]}, config)
    tensors.embedding()
    with pytest.raises(ModelError, match=r"speaks of no model\.norm\.weight, which the weights hold") as caught:
        tensors.check_all_picked()
    assert caught.value.code == "model_invalid"
    tensors.norm("model.norm")
    tensors.check_all_picked()
    head = picked | {"lm_head.weight": weights["lm_head.weight"]}
    for tied in (True, False):
        tensors = Tensors(head, replace(config, tie_word_embeddings=tied))
        tensors.embedding()
        tensors.norm("model.norm")
        if tied:
            tensors.check_all_picked()
        else:
            with pytest.raises(ModelError, match=r"lm_head\.weight"):
                tensors.check_all_picked()


def test_a_missing_tensor_is_named(folder: Path, config: ModelConfig) -> None:
    with pytest.raises(ModelError, match=r"lack model\.layers\.7\.mlp\.up_proj\.weight; fetch") as caught:
        Tensors(Weights(folder), config).linear("model.layers.7.mlp.up_proj")
    assert caught.value.code == "model_invalid"


def test_a_misshapen_tensor_is_named(folder: Path, config: ModelConfig) -> None:
    tensors = Tensors(Weights(folder), replace(config, vocab_size=321))
    with pytest.raises(ModelError, match=r"embed_tokens\.weight is \[320, 128\] where config\.json says \[321, 128\]"):
        tensors.embedding()
