"""Models are loaded where they were asked to be; what is wrong with a folder or a map is one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, BertConfig

from copydesk.engines.transformers import load, loading
from copydesk.engines.transformers.loading import _device_map
from copydesk.engines.transformers.placement import Placement
from copydesk.errors import EngineError, ModelError, UsageError
from copydesk.models.tensorfile import read_tensors, write_tensors
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of
from engines.transformers.architectures import CONFIGS, write_architecture

TOKENS = tuple((29 * index + 11) % 320 for index in range(60))
OTHERS = tuple((31 * index + 7) % 320 for index in range(60))

SPREAD = {"model.embed_tokens": "cpu", "lm_head": "cpu", "model.norm": "cpu", "model.rotary_emb": "cpu"} | {
    f"model.layers.{number}": "disk" if number % 2 else "cpu" for number in range(4)
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "random", Shape(layers=4))


@pytest.fixture(scope="module")
def expected(folder: Path) -> np.ndarray:
    engine = load(folder)
    rows = all_rows(engine, TOKENS)
    engine.close()
    return rows


@pytest.mark.parametrize("form", ["f32", "bf16"])
def test_what_does_not_fit_in_a_limit_is_offloaded_and_exact(
    form: Any, folder: Path, expected: np.ndarray, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A limit of 700 KB for a model of 2.4 MB: most of it is read from disk in every forward."""
    if form != "f32":
        folder = write_folder(tmp_path / "stored", Shape(layers=4), form)
        whole = load(folder, dtype="float32")
        expected = all_rows(whole, TOKENS)
        whole.close()
    engine = load(
        folder, dtype="float32", max_memory={"cpu": "700KB"}, offload_folder=tmp_path / "offload", device_map="auto"
    )
    places = {parameter.device.type for parameter in engine._network._model.parameters()}
    assert places == {"cpu", "meta"}
    one, two = engine.open(), engine.open()
    append(engine, one, TOKENS[:20])
    engine.run([read_all(one, TOKENS[20:]), read_all(two, OTHERS)])
    np.testing.assert_allclose(rows_of(engine, one, 40), expected[20:], rtol=0, atol=1e-4)
    engine.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("device_map", ["auto", '{"": "cpu"}', {"": "disk"}, SPREAD])
def test_maps_without_a_card(device_map: Any, folder: Path, expected: np.ndarray) -> None:
    engine = load(folder, device_map=device_map)
    np.testing.assert_allclose(all_rows(engine, TOKENS), expected, rtol=0, atol=1e-4)
    engine.close()


def test_so_many_layers_on_the_card(folder: Path) -> None:
    config = AutoConfig.from_pretrained(folder)
    found = _device_map(config, Placement(layers_on_gpu=1))
    layers = {f"model.layers.{number}": 0 if number < 1 else "cpu" for number in range(4)}
    assert found == layers | dict.fromkeys(("model.embed_tokens", "model.norm", "model.rotary_emb", "lm_head"), 0)
    with pytest.raises(UsageError, match="layers-on-gpu=5: the model has 4 layers"):
        _device_map(config, Placement(layers_on_gpu=5))


def test_so_many_layers_of_another_architecture() -> None:
    found = _device_map(CONFIGS["learned positions"](), Placement(layers_on_gpu=2))
    others = ("transformer.wte", "transformer.wpe", "transformer.ln_f", "lm_head")
    assert found == {"transformer.h.0": 0, "transformer.h.1": 0} | dict.fromkeys(others, 0)


@pytest.mark.parametrize(
    ("device_map", "complaint"),
    [
        ({"model": "cpu", "nose": "cpu"}, "device_map names 'nose', which the model has not; .* model, lm_head"),
        ({"model.layers": "disk", "": "cpu"}, "names 'model.layers' and '', one inside the other"),
        ({"model": "disk", "lm_head": "cpu"}, r"puts model\.embed_tokens\.weight on disk and lm_head\.weight on cpu"),
        ({"model.layers.0": "cpu"}, r"device_map says nothing of model\.embed_tokens\.weight"),
    ],
)
def test_maps_that_do_not_fit_the_model(device_map: Any, complaint: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(folder, device_map=device_map)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"dtype": "int3"}, "there is no dtype 'int3'; choose auto, float32, bfloat16 or float16"),
        ({"device": "tpu"}, "there is no device 'tpu'"),
    ],
)
def test_options_of_nonsense(options: dict[str, Any], complaint: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(folder, **options)


def changed(folder: Path, config: dict[str, Any]) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    return folder


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "no-such-type"},
        {"model_type": "t5"},
        {"hidden_size": 64},
    ],
)
def test_a_model_that_transformers_cannot_load(config: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Transformers cannot load") as caught:
        load(changed(write_folder(tmp_path, Shape()), config))
    assert caught.value.code == "model_unsupported"
    assert "\n" not in str(caught.value)


def test_weights_that_are_no_weights(tmp_path: Path) -> None:
    settings = {"quantization_config": {"quant_method": "no-such-method"}}
    with pytest.raises(ModelError, match="no weights quantised with 'no-such-method'") as caught:
        load(changed(write_folder(tmp_path, Shape()), settings))
    assert caught.value.code == "model_unsupported"


def test_code_of_a_folder_is_not_run(tmp_path: Path) -> None:
    folder = changed(
        write_folder(tmp_path, Shape()),
        {
            "model_type": "own",
            "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"},
        },
    )
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')")
    with pytest.raises(ModelError, match="Transformers cannot load"):
        load(folder)
    assert not ran.exists()


def test_missing_weights_are_not_made_up(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    tensors = dict(read_tensors(folder / "model.safetensors"))
    kept = {name: (kind, np.array(values)) for name, (kind, values) in tensors.items() if "layers.1.mlp" not in name}
    write_tensors(folder / "model.safetensors", kept)
    with pytest.raises(ModelError, match=r"lacks weights .*layers\.1\.mlp.* and 2 more") as caught:
        load(folder)
    assert caught.value.code == "model_invalid"


def test_damaged_weights(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(ModelError, match=r"model\.safetensors cannot be read") as caught:
        load(folder)
    assert caught.value.code == "model_invalid"


def test_a_model_that_looks_ahead_is_refused(tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=320, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96
    )
    with pytest.raises(ModelError, match="no causal model"):
        load(write_architecture(tmp_path, config))


def test_a_card_that_is_too_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(loading.transformers.AutoModelForCausalLM, "from_pretrained", fails)
    with pytest.raises(EngineError, match=r"does not fit in the card's memory; .*device_map='auto'") as caught:
        load(folder, dtype="float16")
    assert caught.value.code == "cache_full"


@pytest.mark.parametrize(
    ("form", "large", "expected"),
    [
        ("f32", False, torch.float32),
        ("f16", False, torch.float32),
        ("bf16", False, torch.float32),
        ("nano", False, torch.float32),
        ("f32", True, torch.float32),
        ("bf16", True, torch.bfloat16),
        ("f16", True, torch.float32),  # on a CPU
    ],
)
def test_dtype_by_size_and_files(
    form: Any, large: bool, expected: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_LARGE", 1 if large else 10**9)
    engine = load(write_folder(tmp_path, Shape(), form))
    assert engine._network.dtype == expected
    engine.close()


def test_context_lengths_by_their_many_names() -> None:
    assert loading._context_length(CONFIGS["learned positions"]()) == 128
    assert loading._context_length(CONFIGS["a state that cannot be cut"]()) == 2048
