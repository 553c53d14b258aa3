"""A widened folder is an ordinary Hugging Face folder that gives the source's scores, here and in Transformers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen3ForCausalLM

from copydesk.engines import openvino
from copydesk.engines.protocol import Read, Wanted
from copydesk.errors import UsageError
from copydesk.models.config import ModelConfig, read_json
from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import INDEX_FILE, Weights, weight_files
from copydesk.training.renumber import new_ids
from copydesk.training.widen import widen
from engines.random_folders import Shape, write_folder
from models.small_tokenizer import SAMPLES, write_like_qwen3
from training.small_vocabulary import SIZE, write_reduced

SCRIPT = Path(__file__).parents[2] / "scripts" / "widen.py"
WIDE = Shape(vocab_size=768, hidden_size=320, intermediate_size=256, layers=3, heads=8, kv_heads=4)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in model in miniature."""
    folder = tmp_path_factory.mktemp("nano")
    write_reduced(write_like_qwen3(tmp_path_factory.mktemp("full")), folder)
    write_folder(folder, Shape(vocab_size=SIZE), "nano")
    (folder / "copydesk.json").write_text('{"name": "mini", "tasks": ["address"], "calibration": {}}')
    return folder


@pytest.fixture(scope="module")
def qwen3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The larger model's configuration and tokenizer; no weights."""
    folder = tmp_path_factory.mktemp("qwen3")
    write_folder(folder, WIDE, "bf16")
    (folder / "model.safetensors").unlink()
    return write_like_qwen3(folder)


@pytest.fixture(scope="module")
def widened(source: Path, qwen3: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "deeper" / "widened"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("copydesk.training.widen._SHARD_BYTES", 500_000)
        widen(source, qwen3, folder)
    return folder


def scores(folder: Path, tokens: list[int], **options: object) -> np.ndarray:
    """Log-probabilities `[tokens, vocab_size]` by the engine on a CPU."""
    engine = openvino.load(folder, cache_bytes=2**24, **options)
    sequence = engine.open()
    engine.run([Read(sequence, tuple(tokens), tuple(Wanted(index) for index in range(len(tokens))))])
    rows = np.stack([engine.row(sequence, index) for index in range(len(tokens))])
    engine.close()
    return rows


@pytest.mark.parametrize("text", SAMPLES[:2])
@pytest.mark.parametrize(("bits", "most"), [(16, 0.05), (8, 0.2)])
def test_the_engine_gives_the_same_scores(
    source: Path, qwen3: Path, widened: Path, text: str, bits: int, most: float
) -> None:
    ids, old, new = new_ids(source, qwen3), Tokenizer(source).encode(text), Tokenizer(widened).encode(text)
    expected, found = scores(source, old), scores(widened, new, bits=bits, exact=True)
    assert found.shape[1] == WIDE.vocab_size
    assert np.abs(found[:, ids] - expected).max() < most
    assert np.exp(np.delete(found, ids, axis=1)).max() == 0


def test_transformers_gives_the_same_scores(source: Path, qwen3: Path, widened: Path) -> None:
    model, loading = AutoModelForCausalLM.from_pretrained(widened, dtype=torch.float32, output_loading_info=True)
    assert isinstance(model, Qwen3ForCausalLM)
    assert not any(loading.values())
    ids, tokens = new_ids(source, qwen3), Tokenizer(widened).encode(SAMPLES[0])
    with torch.no_grad():
        found = model(torch.tensor([tokens])).logits[0].log_softmax(-1).numpy()
    expected = scores(source, Tokenizer(source).encode(SAMPLES[0]))
    assert np.abs(found[:, ids] - expected).max() < 0.05
    assert AutoModelForCausalLM.from_pretrained(widened, dtype="auto").dtype == torch.bfloat16


def test_the_folder_is_whole_and_in_the_wide_shape(source: Path, qwen3: Path, widened: Path) -> None:
    config, wide = ModelConfig.read(widened), ModelConfig.read(qwen3)
    assert config.name == "mini-widened"
    assert read_json(widened / "copydesk.json")["tasks"] == ["address"]
    for setting in ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"):
        assert getattr(config, setting) == getattr(wide, setting)
    assert not config.tie_word_embeddings
    assert config.eos_token_ids == Tokenizer(widened).eos_token_ids
    weights = Weights(widened)
    assert {tensor.dtype for tensor in weights.values()} == {"bf16"}
    index = read_json(widened / INDEX_FILE)
    assert set(index["weight_map"]) == set(weights)
    assert index["metadata"]["total_size"] == sum(tensor.array.nbytes for tensor in weights.values())
    assert len(weight_files(widened)) > 2
    assert not list(widened.glob("part-*"))


def test_the_sources_epsilon_stays(source: Path, qwen3: Path, tmp_path: Path) -> None:
    other = tmp_path / "source"
    other.mkdir()
    for path in source.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    (other / "config.json").write_text(json.dumps(read_json(source / "config.json") | {"rms_norm_eps": 1e-2}))
    widen(other, qwen3, tmp_path / "wide")
    ids, old = new_ids(source, qwen3), Tokenizer(source).encode(SAMPLES[0])
    found, expected = scores(tmp_path / "wide", ids[old].tolist(), bits=16, exact=True), scores(other, old)
    assert np.abs(found[:, ids] - expected).max() < 0.05
    assert np.abs(expected - scores(source, old)).max() > 0.1


def test_the_script_writes_float32(source: Path, qwen3: Path, tmp_path: Path) -> None:
    command = [sys.executable, SCRIPT, "--model", source, "--qwen3", qwen3, "--dtype", "float32", "--seed", "7"]
    subprocess.run([*command, "--out", tmp_path / "wide"], check=True)
    assert {tensor.dtype for tensor in Weights(tmp_path / "wide").values()} == {"f32"}
    assert read_json(tmp_path / "wide" / "config.json")["torch_dtype"] == "float32"
    ids, old = new_ids(source, qwen3), Tokenizer(source).encode(SAMPLES[0])
    found, expected = scores(tmp_path / "wide", ids[old].tolist()), scores(source, old)
    assert np.abs(found[:, ids] - expected).max() < 2e-5


def test_the_script_says_what_is_wrong(source: Path, qwen3: Path, widened: Path) -> None:
    command = [sys.executable, SCRIPT, "--model", source, "--qwen3", qwen3, "--out", widened]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("widen: ")
    assert "holds something already" in done.stderr


def test_a_shape_with_too_few_rows_is_refused(source: Path, qwen3: Path, tmp_path: Path) -> None:
    few, highest = tmp_path / "few", new_ids(source, qwen3).max()
    write_like_qwen3(few)
    (few / "config.json").write_text(json.dumps(read_json(qwen3 / "config.json") | {"vocab_size": int(highest)}))
    with pytest.raises(UsageError, match=f"{highest} rows but a token {highest}"):
        widen(source, few, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_reported(source: Path, qwen3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copydesk.training.widen.write_tensors", full)
    with pytest.raises(UsageError, match="No space left"):
        widen(source, qwen3, tmp_path / "out")
    assert not (tmp_path / "out" / "config.json").exists()
