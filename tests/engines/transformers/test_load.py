"""Weights are in a process once for equal options, whoever loads them, and the built-in model's form is one of them."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import copydesk
from copydesk.engines import openvino
from copydesk.engines.transformers import load
from copydesk.engines.transformers.load import _loaded
from copydesk.errors import EngineError, ModelError, UsageError
from copydesk.models.resolve import BUILTIN_FOLDER
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append
from tiny_model import write_tiny_model

load_module = sys.modules["copydesk.engines.transformers.load"]
"""The module: in its package, the function has its name."""
TOKENS = tuple((29 * index + 11) % 320 for index in range(60))


def test_the_built_in_form_is_as_openvino_says(tmp_path: Path, home: Path) -> None:
    folder = write_folder(tmp_path / "model", Shape(), "nano")
    engine, reference = load(folder), openvino.load(folder)
    assert (engine.model, engine.tolerance) == ("model", 1e-3)
    np.testing.assert_allclose(all_rows(engine, TOKENS), all_rows(reference, TOKENS), rtol=0, atol=1e-3)
    assert [part.name.rpartition("-")[0] for part in (home / "unpacked").iterdir() if part.name.startswith("model-")]
    engine.close()


def test_the_built_in_model_answers() -> None:
    with copydesk.load(engine="transformers", learn=False) as model:
        answer = model.extract("天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576")
        assert (answer.model, answer.engine) == ("copydesk-nano", "transformers")
        assert answer.value["name"] == "慕容修远"
    assert BUILTIN_FOLDER.is_dir()


def test_equal_options_share_weights_and_not_sequences(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    one, other = load(folder), load(folder, context_length=100)
    assert one._network is other._network
    handle, same = one.open(), other.open()
    append(one, handle, TOKENS[:5])
    assert (handle, one.length(handle), other.length(same)) == (same, 5, 0)
    others = [load(folder, dtype="bfloat16"), load(folder, device_map="auto")]
    assert len({id(engine._network) for engine in (one, *others)}) == 3
    one.close()
    one.close()
    np.testing.assert_allclose(all_rows(other, TOKENS), all_rows(others[1], TOKENS), rtol=0, atol=1e-4)
    for engine in (other, *others):
        engine.close()
    assert not [key for key in _loaded._things if str(folder) in key]  # type: ignore[operator]


def test_changed_weights_are_loaded_anew(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, Shape())
    one = load(folder)
    os.utime(folder / "model.safetensors", ns=(1, 1))
    other = load(folder)
    assert one._network is not other._network
    one.close()
    other.close()


def test_threads_load_once_and_answer_alike(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    texts = [f"珠江道{number}号" for number in range(6)]

    def work(text: str) -> tuple[int, dict[str, str]]:
        with copydesk.load(folder, engine="transformers", learn=False) as model:
            [(_, users)] = [held for key, held in _loaded._things.items() if str(folder) in key]  # type: ignore[operator]
            return users, model.extract(text, max_tokens=80).value

    with copydesk.load(folder, engine="transformers", learn=False) as kept, ThreadPoolExecutor(6) as threads:
        found = list(threads.map(work, texts))
        assert min(users for users, _ in found) > 1
        assert [value for _, value in found] == [kept.extract(text, max_tokens=80).value for text in texts]


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("device", "tpu", UsageError),
        ("offload_folder", "{file}/below", UsageError),
        ("bits", 8, UsageError),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_loaded(
    option: str, value: object, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("weights were loaded")

    monkeypatch.setattr("copydesk.engines.transformers.loading.open_model", fails)
    (tmp_path / "file").touch()
    asked = value.format(file=tmp_path / "file") if isinstance(value, str) else value
    with pytest.raises(error):
        copydesk.load(write_tiny_model(tmp_path / "tiny"), engine="transformers", **{option: asked})  # type: ignore[arg-type]


def test_a_missing_extra_is_said_before_the_folder_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from copydesk.engines.transformers import installed

    monkeypatch.setattr(installed, "_NEEDED", ("no-such-package",))
    with pytest.raises(EngineError, match=r"pip install 'copydesk\[transformers\]'"):
        load(tmp_path / "nothing")


def test_libraries_that_do_not_fit_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(threads: int | None) -> None:
        raise ImportError("tokenizers>=0.22.0,<=0.23.0 is required\nTry this and that")

    monkeypatch.setattr(load_module, "prepare", fails)
    with pytest.raises(EngineError, match=r"cannot be imported \(tokenizers>=.*pip install -U") as caught:
        load(tmp_path)
    assert caught.value.code == "engine_unavailable"
    assert "\n" not in str(caught.value)


def test_a_model_without_a_chat_template_is_named(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>"}')
    with (
        copydesk.load(folder, engine="transformers", learn=False) as model,
        pytest.raises(ModelError, match="has no chat template; choose an instruction-tuned model"),
    ):
        model.extract("text")
