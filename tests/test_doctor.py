"""The report of what is on a machine and what would be chosen, whatever is missing."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from copydesk import __version__, doctor


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache with one model in it."""
    folder = tmp_path / "hub"
    (folder / "models--Somebody--Some-Model-1B").mkdir(parents=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def test_a_model_that_works_is_chosen_and_loaded(tiny_model: Path) -> None:
    report = doctor.examine(str(tiny_model))
    chosen = report["chosen"]
    assert (chosen["model"], chosen["engine"], chosen["why"]) == (
        str(tiny_model),
        "openvino",
        "its files are safetensors",
    )
    assert chosen["context_length"] == 512
    assert report["copydesk"] == __version__
    assert report["hardware"]["cores"] >= 1
    json.dumps(report)


def test_an_engine_that_was_asked_for_is_said_to_be(tiny_model: Path) -> None:
    assert doctor.examine(str(tiny_model), "openvino")["chosen"]["why"] == "asked for"


def test_a_model_that_does_not_work_is_part_of_the_report(tmp_path: Path) -> None:
    report = doctor.examine(str(tmp_path))
    assert report["chosen"]["error"]["code"] == "model_invalid"
    assert report["engines"]["openvino"]["available"]


def test_an_engine_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    engines = doctor.examine()["engines"]
    assert {engine["available"] for engine in engines.values()} == {False}
    assert "pip install 'copydesk[llamacpp]'" in engines["llamacpp"]["why"]


def test_models_are_the_built_in_one_and_what_was_fetched(hub: Path) -> None:
    builtin, fetched = doctor.examine()["models"]
    assert builtin["name"] == "copydesk-nano"
    assert fetched == {"name": "Somebody/Some-Model-1B", "folder": str(hub / "models--Somebody--Some-Model-1B")}


def test_folders_say_whether_they_can_be_written(tmp_path: Path, hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COPYDESK_HOME", str(tmp_path / "file"))
    state, models = doctor.examine()["folders"]
    assert (state["path"], state["writable"]) == (str(tmp_path / "file"), False)
    assert state["why"]
    assert models == {"kind": "hub", "path": str(hub), "writable": True}
