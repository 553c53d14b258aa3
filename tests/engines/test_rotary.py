"""Rotary frequencies, against what the scalings promise; the numbers themselves are compared in test_graph."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.rotary import inverse_frequencies
from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig
from engines.random_folders import Shape, write_folder


@pytest.fixture
def config(tmp_path: Path) -> ModelConfig:
    return ModelConfig.read(write_folder(tmp_path, Shape(head_dim=128, rope_theta=1e4)))


def test_from_one_radian_to_a_theta_of_it(config: ModelConfig) -> None:
    plain = inverse_frequencies(config)
    assert (plain.shape, plain.dtype) == ((64,), np.float32)
    assert plain[0] == 1
    assert plain[-1] == pytest.approx(1e4 ** (-126 / 128), rel=1e-5)


def test_linear_scaling_slows_every_wave(config: ModelConfig) -> None:
    scaled = inverse_frequencies(replace(config, rope_scaling={"type": "linear", "factor": 4.0}))
    np.testing.assert_allclose(scaled, inverse_frequencies(config) / 4)


def test_llama3_scaling_slows_only_long_waves(config: ModelConfig) -> None:
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 1024,
    }
    plain, scaled = inverse_frequencies(config), inverse_frequencies(replace(config, rope_scaling=scaling))
    wavelength = 2 * math.pi / plain
    np.testing.assert_array_equal(scaled[wavelength < 256], plain[wavelength < 256])
    np.testing.assert_allclose(scaled[wavelength > 1024], plain[wavelength > 1024] / 8)
    between = (wavelength > 256) & (wavelength < 1024)
    assert between.any()
    assert np.all((scaled[between] < plain[between]) & (scaled[between] > plain[between] / 8))


def test_an_unknown_scaling_is_refused_by_name(config: ModelConfig) -> None:
    with pytest.raises(ModelError, match="'yarn'") as caught:
        inverse_frequencies(replace(config, rope_scaling={"rope_type": "yarn", "factor": 4.0}))
    assert caught.value.code == "model_unsupported"
