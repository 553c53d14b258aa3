"""What a forward cannot do without. How fast a GPU is, only a GPU tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.bench.gpu_limits import Cost, Limits
from copydesk.models.config import ModelConfig

QWEN3 = {
    "model_type": "qwen3",
    "vocab_size": 151936,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40960,
}


@pytest.fixture
def config(tmp_path: Path) -> ModelConfig:
    (tmp_path / "config.json").write_text(json.dumps(QWEN3))
    return ModelConfig.read(tmp_path)


def test_qwen3_has_0_44_billion_weights_beside_its_embedding(config: ModelConfig) -> None:
    token, scored = Cost.of(config, 1, 0), Cost.of(config, 0, 1)
    assert token.flops == pytest.approx(0.88e9, rel=0.01)
    assert scored.flops == 2 * 151936 * 1024
    assert Cost.of(config, 1, 1).bytes == pytest.approx(1.19e9, rel=0.01)


def test_few_tokens_are_bound_by_memory_and_many_by_arithmetic(config: ModelConfig) -> None:
    limits = Limits(4e12, 700e12)
    assert limits.seconds(Cost.of(config, 1, 1)) == pytest.approx(1.19e9 / 4e12, rel=0.01)
    assert limits.seconds(Cost.of(config, 32768, 0)) == pytest.approx(32768 * 0.88e9 / 700e12, rel=0.01)
