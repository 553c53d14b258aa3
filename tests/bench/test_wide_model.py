"""The model in the larger shape: made if it is not there, left alone if it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from copydesk.bench import wide_model
from copydesk.models.resolve import BUILTIN_FOLDER


def test_the_folder_is_made_of_the_built_in_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("copydesk.training.widen.widen", lambda *given, seed: asked.append((*given, seed)))
    assert wide_model.folder(tmp_path / "data", tmp_path, seed=3) == tmp_path / "wide"
    assert asked == [(BUILTIN_FOLDER, tmp_path / "data" / "qwen3", tmp_path / "wide", 3)]


def test_the_file_is_written_once(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("gguf", reason="gguf is not installed")
    file = wide_model.gguf(tiny_model, tmp_path / "wide.gguf")
    assert file.read_bytes().startswith(b"GGUF")
    (tmp_path / "there.gguf").touch()
    assert wide_model.gguf(tiny_model, tmp_path / "there.gguf").read_bytes() == b""
