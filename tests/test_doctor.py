"""The report of what is on a machine and what would be chosen, whatever is missing."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from copydesk import __version__, doctor


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache with one model in it."""
    folder = tmp_path / "hub"
    (folder / "models--Somebody--Some-Model-1B").mkdir(parents=True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def test_a_model_whose_files_are_there_is_chosen(tiny_model: Path) -> None:
    report = doctor.examine(str(tiny_model))
    assert report["chosen"] == {"model": str(tiny_model), "engine": "openvino", "why": "its files are safetensors"}
    assert report["copydesk"] == __version__
    assert report["hardware"]["cores"] >= 1
    json.dumps(report)


@pytest.mark.parametrize("engine", ["openvino", "transformers"])
def test_a_model_is_loaded_if_that_is_asked_for(engine: str, tiny_model: Path) -> None:
    chosen = doctor.examine(str(tiny_model), engine, load=True, context_length=300)["chosen"]
    assert (chosen["engine"], chosen["why"], chosen["context_length"]) == (engine, "asked for", 300)
    assert min(chosen["load_s"], chosen["first_token_ms"], chosen["peak_mb"]) > 0


@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize(
    ("engine", "options", "complaint"),
    [
        ("abacus", {}, "there is no engine 'abacus'"),
        ("openvino", {"device": "cpu"}, "the openvino engine has no option device"),
    ],
)
def test_what_is_asked_for_in_vain(engine: str, options: Any, complaint: str, load: bool, tiny_model: Path) -> None:
    error = doctor.examine(str(tiny_model), engine, load=load, **options)["chosen"]["error"]
    assert error["code"] == "usage"
    assert complaint in error["message"]


def test_a_model_that_does_not_work_is_part_of_the_report(tmp_path: Path) -> None:
    report = doctor.examine(str(tmp_path))
    assert report["chosen"]["error"]["code"] == "model_invalid"
    assert report["engines"]["openvino"]["available"]


def test_a_server_is_only_asked_when_it_is_to_be_loaded() -> None:
    url = "http://127.0.0.1:1"
    chosen = doctor.examine(None, url)["chosen"]
    assert chosen == {"model": "the server's own", "engine": url, "why": "asked for"}
    assert "error" in doctor.examine(None, url, load=True, timeout=1)["chosen"]


def test_an_engine_that_is_not_installed_says_how_to_install_it(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    report = doctor.examine(str(tiny_model), "llamacpp")
    assert {engine["available"] for engine in report["engines"].values()} == {False}
    assert "pip install 'copydesk[llamacpp]'" in report["engines"]["llamacpp"]["why"]
    error = report["chosen"]["error"]
    assert error["code"] == "missing_extra"
    assert "xllamacpp is not installed" in error["message"]


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
