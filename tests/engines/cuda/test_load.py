"""Which device the engine is loaded on, and on which others its like."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.engines import cuda
from copydesk.errors import EngineError, UsageError
from engines.random_folders import Shape, write_folder


@pytest.mark.parametrize("device", ["tpu", "cuda:x", "meta", ""])
def test_an_unknown_device_is_named(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "why_not", lambda: None)
    with pytest.raises(UsageError, match="device is cuda, cuda:N or all"):
        cuda.load(write_folder(tmp_path / "random", Shape()), device=device)


def test_without_a_gpu_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "why_not", lambda: "there is none")
    with pytest.raises(EngineError, match="cannot run here: there is none"):
        cuda.load(tmp_path, device="all")


def test_each_further_gpu_has_an_engine_of_its_own() -> None:
    loads = cuda.further(3, Path("folder"), "bfloat16", 4096, 10**9, True)
    assert [load.keywords["device"] for load in loads] == ["cuda:1", "cuda:2"]  # type: ignore[attr-defined]
    assert all(load.keywords["context_length"] == 4096 for load in loads)  # type: ignore[attr-defined]
    assert cuda.further(1, Path("folder"), "bfloat16", 4096, 10**9, True) == ()


def test_a_single_engine_has_no_further(tmp_path: Path) -> None:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    assert engine.further == ()
    assert engine.context_length == 512
