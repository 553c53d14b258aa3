"""The 8-bit format written out: the same values, once, and nothing where it is not needed or cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from copydesk.errors import ModelError
from copydesk.models.config import read_json
from copydesk.models.unpacked import is_packed, unpacked
from copydesk.models.weights import Weights
from engines.random_folders import Shape, write_folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "packed", Shape(), "nano")


def test_every_value_is_as_it_was(source: Path, tmp_path: Path) -> None:
    folder = unpacked(source, tmp_path / "cache" / "deeper")
    ours, theirs = Weights(source), Weights(folder)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert theirs[name].dtype == "bf16"
        np.testing.assert_array_equal(theirs[name].float32(), tensor.float32())
    assert (is_packed(source), is_packed(folder)) == (True, False)
    assert read_json(folder / "config.json")["hidden_size"] == 128
    assert [file.name for file in folder.parent.iterdir()] == [folder.name]


def test_an_ordinary_folder_is_used_as_it_is(tmp_path: Path) -> None:
    plain = write_folder(tmp_path / "plain", Shape(), "f32")
    assert unpacked(plain, tmp_path / "cache") == plain
    assert not (tmp_path / "cache").exists()


def test_it_is_written_once_and_again_when_the_weights_change(source: Path, tmp_path: Path) -> None:
    folder = unpacked(source, tmp_path)
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert unpacked(source, tmp_path) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    os.utime(source / "model.safetensors", ns=(1, 1))
    assert unpacked(source, tmp_path) != folder


def test_another_process_may_have_been_first(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(part: Path, folder: Path) -> None:
        folder.mkdir()
        raise OSError(39, "Directory not empty")

    monkeypatch.setattr("copydesk.models.unpacked.os.rename", rename)
    assert unpacked(source, tmp_path / "cache").is_dir()


def test_a_cache_that_cannot_be_written_is_named(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"cannot be written out to .*file.*COPYDESK_HOME"):
        unpacked(source, tmp_path / "file")
