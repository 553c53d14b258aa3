"""A name becomes a folder; every folder that is none is refused with what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from copydesk.errors import ModelError
from copydesk.models import hub, resolve

FILES = ("config.json", "tokenizer.json", "model.safetensors")


def write(folder: Path, files: tuple[str, ...] = FILES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in files:
        (folder / name).write_text("{}")
    return folder


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: str, complete: Callable[[Path], bool]) -> Path:
        raise AssertionError(f"asked a hub for {model}")

    monkeypatch.setattr(hub, "fetch", refuse)


@pytest.mark.usefixtures("no_hub")
def test_a_path_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "owner" / "model")
    assert resolve.resolve(str(folder)) == folder
    monkeypatch.chdir(tmp_path)
    assert resolve.resolve("owner/model") == Path("owner/model")  # not a hub id: it is there
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve.resolve("~/owner/model") == folder


def test_the_builtin_model_by_default_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "BUILTIN_FOLDER", write(tmp_path / "nano"))
    assert resolve.resolve(None) == resolve.resolve("copydesk-nano") == tmp_path / "nano"


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    "name",
    ["nonsense", "./missing", "../up/missing", "/no/such/folder", "a/b/c", "", "~/missing-model", "~no-such-user/x"],
)
def test_what_can_be_no_model_is_not_looked_up(name: str) -> None:
    with pytest.raises(ModelError, match="there is no model") as caught:
        resolve.resolve(name)
    assert caught.value.code == "model_not_found"


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), "is empty"),
        (("notes.txt",), "no config.json"),
        (("model.safetensors", "tokenizer.json"), "no config.json"),
        (("config.json", "model.safetensors"), "lacks tokenizer.json"),
        (("config.json", "tokenizer.json.gz"), "lacks model.safetensors"),
        (("config.json", "tokenizer.json", "model.safetensors.incomplete"), "lacks model.safetensors"),
    ],
)
def test_folders_that_are_no_model_are_named(tmp_path: Path, files: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        resolve.resolve(str(write(tmp_path / "model", files)))
    assert caught.value.code == "model_invalid"
    assert str(tmp_path / "model") in str(caught.value)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_text("")
    with pytest.raises(ModelError, match="is a file"):
        resolve.resolve(str(tmp_path / "model.safetensors"))


@pytest.mark.usefixtures("no_hub")
def test_gguf_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = write(tmp_path, ("model-Q8_0.gguf",))
    file = folder / "model-Q8_0.gguf"
    assert resolve.resolve(str(file)) == file
    assert resolve.resolve(str(folder)) == folder
    write(folder, ("model-00001-of-00002.safetensors",))
    with pytest.raises(ModelError, match=r"no config\.json"):
        resolve.resolve(str(folder))


def test_a_missing_shard_is_half_a_download(tmp_path: Path) -> None:
    write(tmp_path, ("config.json", "tokenizer.json", "model-00001-of-00002.safetensors"))
    shards = '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(shards)
    with pytest.raises(ModelError, match="not downloaded in full: it lacks model-00002-of-00002"):
        resolve.resolve(str(tmp_path))


def test_a_hub_id_is_fetched_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half, whole = write(tmp_path / "half", ("config.json",)), write(tmp_path / "whole")
    asked = []

    def fetch(model: str, complete: Callable[[Path], bool]) -> Path:
        asked.append((model, complete(half), complete(whole)))
        return whole if model == "Qwen/Qwen3-0.6B" else half

    monkeypatch.setattr(hub, "fetch", fetch)
    assert resolve.resolve("Qwen/Qwen3-0.6B") == whole
    assert asked == [("Qwen/Qwen3-0.6B", False, True)]
    with pytest.raises(ModelError, match="lacks tokenizer"):
        resolve.resolve("Qwen/other")
