"""Configurations of both architectures in both layouts; what cannot be computed is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from copydesk.errors import ModelError
from copydesk.models.config import ModelConfig

QWEN3: dict[str, Any] = {
    "model_type": "qwen3",
    "vocab_size": 151936,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000,
    "rope_scaling": None,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "max_position_embeddings": 40960,
    "hidden_act": "silu",
    "use_sliding_window": False,
    "eos_token_id": 151645,
}
LLAMA3_SCALING = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def write(folder: Path, **changes: Any) -> Path:
    raw = {key: value for key, value in {**QWEN3, **changes}.items() if value is not ...}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(raw))
    return folder


def test_qwen3(tmp_path: Path) -> None:
    config = ModelConfig.read(write(tmp_path / "Qwen3-0.6B"))
    assert config == ModelConfig(
        name="Qwen3-0.6B",
        model_type="qwen3",
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        rms_norm_eps=1e-6,
        rope_theta=1e6,
        rope_scaling=None,
        tie_word_embeddings=True,
        attention_bias=False,
        max_position_embeddings=40960,
        eos_token_ids=(151645,),
    )


def test_llama_without_optional_keys(tmp_path: Path) -> None:
    missing = dict.fromkeys(
        ("num_key_value_heads", "head_dim", "tie_word_embeddings", "rope_theta", "eos_token_id"), ...
    )
    config = ModelConfig.read(write(tmp_path, model_type="llama", hidden_size=2048, **missing))
    assert (config.num_key_value_heads, config.head_dim, config.rope_theta) == (16, 128, 10_000.0)
    assert (config.tie_word_embeddings, config.eos_token_ids) == (False, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_theta": 5e5, "rope_scaling": LLAMA3_SCALING},
        {"rope_theta": ..., "rope_scaling": ..., "rope_parameters": {"rope_theta": 5e5, **LLAMA3_SCALING}},
    ],
)
def test_rotary_embedding_in_the_old_and_the_new_layout(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = ModelConfig.read(write(tmp_path, model_type="llama", **changes))
    assert (config.rope_theta, config.rope_scaling) == (5e5, LLAMA3_SCALING)


def test_default_rotary_embedding_is_no_scaling(tmp_path: Path) -> None:
    changes = {"rope_theta": ..., "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}}
    config = ModelConfig.read(write(tmp_path, **changes))
    assert (config.rope_theta, config.rope_scaling) == (1e6, None)


def test_generation_config_names_the_end_tokens_first(tmp_path: Path) -> None:
    (write(tmp_path) / "generation_config.json").write_text('{"eos_token_id": [7, 9]}')
    assert ModelConfig.read(tmp_path).eos_token_ids == (7, 9)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("plain", "plain"),
        ("models--Qwen--Qwen3-0.6B/snapshots/c1899de2", "Qwen/Qwen3-0.6B"),
        ("Qwen--Qwen3-0.6B/snapshots/master", "Qwen/Qwen3-0.6B"),
    ],
)
def test_the_name_comes_from_the_folder_or_the_hubs_cache(tmp_path: Path, folder: str, name: str) -> None:
    assert ModelConfig.read(write(tmp_path / folder)).name == name


def test_the_models_own_name_wins(tmp_path: Path) -> None:
    (write(tmp_path) / "copydesk.json").write_text('{"name": "copydesk-nano"}')
    assert ModelConfig.read(tmp_path).name == "copydesk-nano"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "gpt2"}, "'gpt2'"),
        ({"model_type": ...}, "None"),
        ({"hidden_act": "gelu"}, "hidden_act"),
        ({"use_sliding_window": True}, "use_sliding_window"),
        ({"mlp_bias": True}, "mlp_bias"),
        ({"quantization_config": {"quant_method": "gptq"}}, "'gptq'"),
    ],
)
def test_what_the_engines_do_not_compute_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        ModelConfig.read(write(tmp_path, **changes))
    assert caught.value.code == "model_unsupported"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "has no config.json"),
        ("", "cannot be read"),
        ('{"model_type": "qwen3"', "cannot be read"),
        ("[1]", "no JSON object"),
        (json.dumps({"model_type": "qwen3"}), "has no 'hidden_size'"),
        (json.dumps({**QWEN3, "hidden_size": "many"}), "cannot be read"),
        (json.dumps({**QWEN3, "num_key_value_heads": 3}), "cannot be shared out"),
        (json.dumps({**QWEN3, "rope_scaling": "x"}), "rope_scaling is no object"),
        (json.dumps({**QWEN3, "rope_parameters": [1]}), "rope_parameters is no object"),
        (json.dumps({**QWEN3, "quantization_config": "int8"}), "quantization_config is no object"),
        (json.dumps(QWEN3).replace("3072", "1e400"), "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        (json.dumps({**QWEN3, "num_hidden_layers": 0}), "num_hidden_layers must be at least 1, not 0"),
        (json.dumps({**QWEN3, "max_position_embeddings": 0}), "max_position_embeddings must be at least 1"),
        (json.dumps({**QWEN3, "num_attention_heads": 0}), "cannot be read"),
        (json.dumps({**QWEN3, "eos_token_id": ["x"]}), "eos_token_id must be a token id"),
    ],
)
def test_damaged_configurations_are_named(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError, match=message) as caught:
        ModelConfig.read(tmp_path)
    assert caught.value.code == "model_invalid"
    assert str(tmp_path) in str(caught.value)
