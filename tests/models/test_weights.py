"""Weights of every stored form by name; the 8-bit format loses nothing on its way to bfloat16."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from copydesk.errors import ModelError
from copydesk.models.tensorfile import write_tensors
from copydesk.models.weights import EXPONENT, Weights, quantize_rows, to_bf16, write_quantized

sensible = st.floats(-(2.0**126), 2.0**126, width=32)
matrices = st_numpy.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=sensible)


def dequantized(rows: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    return np.ldexp(rows.astype(np.float32), exponents[:, None].astype(np.int32))


def widened(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@given(
    rows=st_numpy.arrays(np.int8, (5, 7), elements=st.integers(-127, 127)),
    exponents=st_numpy.arrays(np.int8, 5, elements=st.integers(-126, 120)),
)
def test_every_value_of_the_8_bit_format_is_a_bfloat16(rows: np.ndarray, exponents: np.ndarray) -> None:
    values = dequantized(rows, exponents)
    np.testing.assert_array_equal(widened(to_bf16(values)), values)


def test_all_mantissas_and_exponents_are_bfloat16() -> None:
    rows = np.tile(np.arange(-127, 128, dtype=np.int8), (247, 1))
    values = dequantized(rows, np.arange(-126, 121, dtype=np.int8))
    np.testing.assert_array_equal(widened(to_bf16(values)), values)


@given(values=matrices)
def test_quantising_is_as_fine_as_8_bits_allow(values: np.ndarray) -> None:
    rows, exponents = quantize_rows(values)
    step = np.ldexp(1.0, exponents.astype(np.int32))[:, None]
    wide = values.astype(np.float64)
    assert (np.abs(rows * step - wide) <= step / 2).all()
    largest = np.abs(wide).max(axis=1)
    would_be_clipped_by_a_finer_one = largest > 127 * step[:, 0] / 2
    assert (would_be_clipped_by_a_finer_one | (largest < 1e-35)).all()  # 127 * 2**-126


@given(values=matrices)
def test_quantising_twice_changes_nothing(values: np.ndarray) -> None:
    once = dequantized(*quantize_rows(values))
    np.testing.assert_array_equal(dequantized(*quantize_rows(once)), once)


@given(values=st_numpy.arrays(np.float32, 16, elements=sensible))
def test_rounding_to_bf16_is_to_the_nearest(values: np.ndarray) -> None:
    bits = to_bf16(values)
    error = np.abs(widened(bits).astype(np.float64) - values)
    for step in (-1, 1):
        other = np.abs(widened((bits.astype(np.int32) + step).astype(np.uint16)).astype(np.float64) - values)
        assert (error <= np.nan_to_num(other, nan=np.inf)).all()


def test_a_quantised_folder_reads_back(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    tensors = {
        "model.embed_tokens.weight": random.standard_normal((6, 4), np.float32),
        "model.norm.weight": np.array([1.0, 0.5, 1.0078125, 3.0], np.float32),
    }
    write_quantized(tmp_path, tensors)
    weights = Weights(tmp_path)
    assert list(weights) == list(tensors)
    embedding, norm = weights["model.embed_tokens.weight"], weights["model.norm.weight"]
    assert (embedding.dtype, embedding.array.dtype, norm.dtype) == ("i8", np.int8, "bf16")
    rows, exponents = quantize_rows(tensors["model.embed_tokens.weight"])
    np.testing.assert_array_equal(embedding.array, rows)
    np.testing.assert_array_equal(embedding.exponents, exponents)
    np.testing.assert_array_equal(embedding.float32(), dequantized(rows, exponents))
    np.testing.assert_array_equal(widened(embedding.bf16()), embedding.float32())
    np.testing.assert_array_equal(norm.float32(), tensors["model.norm.weight"])


def test_ordinary_weights_of_every_type(tmp_path: Path) -> None:
    values = np.array([[1.5, -0.25], [3.0, 0.0]], np.float32)
    write_tensors(
        tmp_path / "model.safetensors",
        {"a": ("f32", values), "b": ("f16", values.astype(np.float16)), "c": ("bf16", to_bf16(values))},
    )
    weights = Weights(tmp_path)
    assert {name: tensor.dtype for name, tensor in weights.items()} == {"a": "f32", "b": "f16", "c": "bf16"}
    for tensor in weights.values():
        np.testing.assert_array_equal(tensor.float32(), values)
        np.testing.assert_array_equal(tensor.bf16(), to_bf16(values))
        assert tensor.exponents is None
    with pytest.raises(KeyError):
        weights["d"]


def shards(folder: Path) -> None:
    one = np.ones(3, np.float32)
    write_tensors(folder / "model-00001-of-00002.safetensors", {"a": ("f32", one)})
    write_tensors(folder / "model-00002-of-00002.safetensors", {"b": ("f32", 2 * one)})
    weight_map = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def test_several_files_are_one_model(tmp_path: Path) -> None:
    shards(tmp_path)
    assert {name: tensor.float32()[0] for name, tensor in Weights(tmp_path).items()} == {"a": 1.0, "b": 2.0}


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    shards(tmp_path)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ModelError, match=r"lacks model-00002-of-00002\.safetensors;") as caught:
        Weights(tmp_path)
    assert caught.value.code == "model_invalid"


def test_an_index_without_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text('{"metadata": {}}')
    with pytest.raises(ModelError, match="no weight_map"):
        Weights(tmp_path)


@pytest.mark.parametrize("name", [1, None, ["a"], "../a.safetensors", "sub/a.safetensors"])
def test_an_index_of_anything_but_files_of_the_folder_is_refused(tmp_path: Path, name: object) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    with pytest.raises(ModelError, match="must name files of this folder") as caught:
        Weights(tmp_path)
    assert caught.value.code == "model_invalid"


@pytest.mark.parametrize("exponents", [None, np.zeros(3, np.int8), np.zeros((2, 1), np.int8)])
def test_int8_without_its_exponents_is_refused(tmp_path: Path, exponents: np.ndarray | None) -> None:
    tensors = {"a": ("i8", np.ones((2, 2), np.int8))}
    if exponents is not None:
        tensors["a" + EXPONENT] = ("i8", exponents)
    write_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(ModelError, match="exponents do not match"):
        Weights(tmp_path)
