"""The engine asked for opens the model; what cannot be is named."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from copydesk.engines.choose import choose, gguf_file, load_engine
from copydesk.engines.llamacpp import interface
from copydesk.errors import EngineError, ModelError, UsageError
from engines.random_folders import Shape, write_folder


@pytest.mark.parametrize("name", ["auto", "openvino"])
def test_safetensors_are_for_openvino(name: str, tmp_path: Path) -> None:
    engine = load_engine(name, write_folder(tmp_path, Shape()), context_length=64, threads=1)
    assert (engine.name, engine.context_length) == ("openvino", 64)


def test_gguf_is_for_llama_cpp(tmp_path: Path) -> None:
    assert choose(tmp_path / "model.gguf") == "llamacpp"
    (tmp_path / "one.gguf").touch()
    assert choose(tmp_path) == "llamacpp"
    (tmp_path / "model.safetensors").touch()
    assert choose(tmp_path) == "openvino"


def test_the_one_gguf_file_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="found none"):
        gguf_file(tmp_path)
    (tmp_path / "one.gguf").touch()
    assert gguf_file(tmp_path) == gguf_file(tmp_path / "one.gguf") == tmp_path / "one.gguf"
    (tmp_path / "two.gguf").touch()
    with pytest.raises(ModelError, match=r"one\.gguf, two\.gguf"):
        gguf_file(tmp_path)


def test_an_unknown_engine_is_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no engine 'abacus'; choose auto, openvino, cuda, .* or http://HOST:PORT"):
        load_engine("abacus", tmp_path)


def test_an_option_that_the_engine_has_not_is_named_with_those_that_have_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the llamacpp engine has no option bits; leave it out, or choose openvino"):
        load_engine("llamacpp", tmp_path, bits=8)
    with pytest.raises(UsageError, match=r"the openvino engine has no option device; .* choose cuda or transformers"):
        load_engine("auto", tmp_path, device="cpu")


@pytest.mark.parametrize(
    "setting", [{"model_type": "gpt2"}, {"use_sliding_window": True}, {"quantization_config": {"quant_method": "gptq"}}]
)
def test_what_only_transformers_runs_is_for_it_where_it_is_installed(
    setting: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path, Shape())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | setting))
    assert choose(folder) == "transformers"
    monkeypatch.setattr("copydesk.engines.choose.find_spec", lambda name: None)
    assert choose(folder) == "openvino"


def test_a_gpu_is_taken_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("copydesk.engines.choose.why_not_cuda", lambda: None)
    assert choose(tmp_path) == "cuda"
    assert choose(tmp_path / "model.gguf") == "llamacpp"
    monkeypatch.setattr("copydesk.engines.choose.why_not_cuda", lambda: "there is none")
    assert choose(tmp_path) == "openvino"


def test_cuda_without_a_gpu_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("copydesk.engines.cuda.why_not", lambda: "no NVIDIA GPU was found")
    with pytest.raises(EngineError, match="cannot run here: no NVIDIA GPU was found"):
        load_engine("cuda", tmp_path)


def test_without_the_extra_that_is_said_before_the_file_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(interface, "version", missing)
    with pytest.raises(EngineError, match=r"pip install 'copydesk\[llamacpp\]'"):
        load_engine("llamacpp", tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        *({"bits": bits} for bits in (3, 0, "8")),
        *({"threads": threads} for threads in (0, -1, 1.5, True)),
        *({"context_length": length} for length in (0, -1, "many")),
    ],
)
def test_senseless_options_are_named(options: dict[str, Any], tmp_path: Path) -> None:
    (name,) = options
    with pytest.raises(UsageError, match=f"{name} is .* not"):
        load_engine("auto", tmp_path, **options)
