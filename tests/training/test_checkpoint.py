"""Checkpoints are whole or absent."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from copydesk.errors import UsageError
from copydesk.training import checkpoint


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "run", {"progress": 0.25, "masters": {"w": torch.arange(3.0)}})
    state = checkpoint.load(tmp_path / "run", torch.device("cpu"))
    assert state["progress"] == 0.25
    assert state["masters"]["w"].tolist() == [0, 1, 2]


def test_a_save_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.save(tmp_path, {"progress": 0.25})

    def fail(state: object, file: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(tmp_path, {"progress": 0.5})
    assert checkpoint.load(tmp_path, torch.device("cpu"))["progress"] == 0.25


def test_a_folder_without_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"checkpoint\.pt"):
        checkpoint.load(tmp_path, torch.device("cpu"))
