"""The network in plain PyTorch beside Transformers, float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from copydesk.engines import cuda
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows
from engines.reference import reference_rows

SHAPES = {
    "Qwen3": Shape(),
    "Qwen3, heads of keys for each query": Shape(heads=2, kv_heads=2, tied=False),
    "Llama": Shape(model_type="llama", heads=6, kv_heads=2, hidden_size=192),
    "Llama with biases": Shape(model_type="llama", attention_bias=True, rope_theta=1e4),
    "Llama 3's rotation": Shape(
        model_type="llama",
        rope_scaling={
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("length", [1, 33, 200])
def test_as_transformers_says(name: str, length: int, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "random", SHAPES[name])
    engine = cuda.load(folder, device="cpu", dtype="float32")
    tokens = [(37 * index + 5) % 320 for index in range(length)]
    np.testing.assert_allclose(all_rows(engine, tokens), reference_rows(folder, tokens), atol=1e-4)
    engine.close()
