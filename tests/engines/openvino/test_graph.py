"""The graph computes what Transformers' own models compute: log-probabilities of the same folder, side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.openvino import load
from copydesk.engines.openvino.compression import Bits
from copydesk.errors import ModelError
from engines.random_folders import Form, Shape, write_folder
from engines.reading import all_rows

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SHAPES = {
    "qwen3 tied": Shape(),
    "qwen3 untied, two groups of heads": Shape(tied=False, heads=8, kv_heads=2, head_dim=16),
    "qwen3 biased, a key for every query": Shape(attention_bias=True, kv_heads=4),
    "llama": Shape(model_type="llama", rope_theta=1e4),
    "llama untied, scaled": Shape(model_type="llama", tied=False, rope_theta=5e5, rope_scaling=LLAMA3),
    "llama linearly scaled": Shape(model_type="llama", rope_scaling={"rope_type": "linear", "factor": 4.0}),
}
TOKENS = tuple((17 * index + 5) % 320 for index in range(150))


def by_transformers(folder: Path) -> np.ndarray:
    """Log-probabilities `[tokens, vocab_size]` by Transformers, in fp32."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return np.asarray(model(torch.tensor([TOKENS])).logits[0].log_softmax(-1))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_as_transformers_in_fp32(tmp_path: Path, shape: Shape) -> None:
    folder = write_folder(tmp_path, shape)
    engine = load(folder)
    assert engine.notes == ()
    np.testing.assert_allclose(all_rows(engine, TOKENS), by_transformers(folder), atol=2e-4)


@pytest.mark.parametrize("form", ["bf16", "f16"])
def test_as_transformers_from_half_precision_weights(tmp_path: Path, form: Form) -> None:
    folder = write_folder(tmp_path, Shape(), form)
    np.testing.assert_allclose(all_rows(load(folder), TOKENS), by_transformers(folder), atol=2e-4)


@pytest.mark.parametrize(
    ("bits", "exact", "correlation"), [(8, True, 0.9995), (8, False, 0.999), (4, True, 0.9), (4, False, 0.9)]
)
def test_near_transformers_when_compressed(tmp_path: Path, bits: Bits, exact: bool, correlation: float) -> None:
    folder = write_folder(tmp_path, Shape(), "bf16")
    found = all_rows(load(folder, bits=bits, exact=exact), TOKENS)
    assert np.corrcoef(found.ravel(), by_transformers(folder).ravel())[0, 1] > correlation


def test_the_built_in_form_holds_the_values_it_says(tmp_path: Path) -> None:
    """Eight bits with a power of two a row, against the same values written out in fp32."""
    stored = load(write_folder(tmp_path / "nano", Shape(), "nano"))
    written_out = load(write_folder(tmp_path / "f32", Shape(), "nano, written out"))
    np.testing.assert_allclose(all_rows(stored, TOKENS), all_rows(written_out, TOKENS), atol=2e-4)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    config = json.loads((folder / "config.json").read_text()) | {"num_hidden_layers": 3}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"model\.layers\.2\.input_layernorm\.weight") as caught:
        load(folder)
    assert caught.value.code == "model_invalid"


@pytest.mark.parametrize(
    ("shape", "changes", "unread"),
    [
        (Shape(), {"num_hidden_layers": 1}, r"model\.layers\.1\..* and 10 more"),
        (Shape(), {"model_type": "llama"}, r"model\.layers\.0\.self_attn\.q_norm\.weight and 3 more"),
        (Shape(attention_bias=True), {"attention_bias": False}, r"model\.layers\.0\.self_attn\.q_proj\.bias"),
    ],
)
def test_weights_that_the_configuration_does_not_speak_of_are_refused(
    tmp_path: Path, shape: Shape, changes: dict[str, object], unread: str
) -> None:
    folder = write_folder(tmp_path, shape)
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"speaks of no {unread}") as caught:
        load(folder)
    assert caught.value.code == "model_invalid"


def test_a_misshapen_tensor_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    config = json.loads((folder / "config.json").read_text()) | {"intermediate_size": 100}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"mlp\.gate_proj\.weight") as caught:
        load(folder)
    assert caught.value.code == "model_invalid"
