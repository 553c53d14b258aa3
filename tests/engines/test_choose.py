"""The engine asked for opens the model; what cannot be is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.engines.choose import choose, gguf_file, load_engine
from copydesk.errors import ModelError, UsageError
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
    with pytest.raises(UsageError, match="no engine 'abacus'; choose auto, openvino or llamacpp"):
        load_engine("abacus", tmp_path)


def test_gguf_has_its_own_precision(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave bits and exact out"):
        load_engine("llamacpp", tmp_path, bits=8)
