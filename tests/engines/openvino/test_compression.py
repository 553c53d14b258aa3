"""Compressed matrices stay within half a step of what was stored, and hold exactly what they say."""

from __future__ import annotations

import numpy as np
import pytest

from copydesk.engines.openvino.compression import GROUP, compress
from copydesk.models.weights import Tensor, quantize_rows, to_bf16
from engines.openvino.dequantized import values_of


@pytest.fixture
def values() -> np.ndarray:
    random = np.random.default_rng(0).standard_normal((700, 3 * GROUP), np.float32)
    random[3] = 0
    random[4, :GROUP] = 2.5
    random[5, GROUP:] = -1
    return random


def test_8_bits_a_row(values: np.ndarray) -> None:
    matrix = compress(Tensor(values, "f32"), 8)
    assert (matrix.kind, matrix.columns) == ("i8", values.shape[1])
    assert np.all(np.abs(values_of(matrix) - values) <= matrix.scale * 0.501)


def test_4_bits_a_group(values: np.ndarray) -> None:
    matrix = compress(Tensor(values, "f32"), 4)
    assert (matrix.kind, matrix.columns) == ("u4", values.shape[1])
    error = np.abs(values_of(matrix) - values).reshape(*matrix.scale.shape[:2], GROUP)
    assert np.all(error <= matrix.scale * 1.01)
    assert np.mean(error / matrix.scale) < 0.3


def test_bf16_is_read_before_it_is_compressed(values: np.ndarray) -> None:
    stored = compress(Tensor(to_bf16(values), "bf16"), 8)
    np.testing.assert_allclose(values_of(stored), values, atol=0.03)


def test_rows_that_are_no_whole_groups_take_8_bits(values: np.ndarray) -> None:
    assert compress(Tensor(values[:, :100], "f32"), 4).kind == "i8"


def test_16_bits_leave_the_matrix_alone(values: np.ndarray) -> None:
    matrix = compress(Tensor(values, "f32"), 16)
    assert matrix.stored is values
    assert (matrix.kind, matrix.scale) == ("f32", None)


@pytest.mark.parametrize("bits", [8, 16])
def test_the_built_in_form_is_kept(values: np.ndarray, bits: int) -> None:
    tensor = Tensor(*(codes := quantize_rows(values))[:1], "i8", codes[1])
    matrix = compress(tensor, bits)
    assert matrix.stored is tensor.array
    np.testing.assert_array_equal(values_of(matrix), tensor.float32())


def test_the_built_in_form_in_4_bits(values: np.ndarray) -> None:
    codes, exponents = quantize_rows(values)
    matrix = compress(Tensor(codes, "i8", exponents), 4)
    assert matrix.kind == "u4"
    assert np.corrcoef(values_of(matrix).ravel(), values.ravel())[0, 1] > 0.99
