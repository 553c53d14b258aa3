"""What is exported loads in Transformers with the same values, the same ids and the same answers' template."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM

from copydesk.errors import ModelError, UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import Weights
from copydesk.training.export import export_hugging_face
from engines.random_folders import Shape, write_folder
from models.small_tokenizer import SAMPLES, write_like_qwen3
from training.small_vocabulary import write_reduced


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in model in miniature: random 8-bit weights and a reduced, gzipped tokenizer."""
    folder = tmp_path_factory.mktemp("nano")
    size = write_reduced(write_like_qwen3(tmp_path_factory.mktemp("qwen3")), folder)
    write_folder(folder, Shape(vocab_size=size), "nano")
    (folder / "README.md").write_text("# A model card\n")
    return folder


@pytest.fixture(scope="module")
def exported(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    destination = tmp_path_factory.mktemp("exported") / "deeper" / "model"
    export_hugging_face(source, destination)
    return destination


def test_transformers_loads_every_weight_as_it_is(source: Path, exported: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(exported, dtype="auto")
    assert isinstance(model, Qwen3ForCausalLM)
    assert model.dtype == torch.bfloat16
    loaded, ours = model.state_dict(), Weights(source)
    assert loaded.keys() == {*ours, "lm_head.weight"}
    for name, tensor in ours.items():
        np.testing.assert_array_equal(loaded[name].float().numpy(), tensor.float32(), err_msg=name)
    assert loaded["lm_head.weight"].data_ptr() == loaded["model.embed_tokens.weight"].data_ptr()
    assert not hasattr(model.config, "quantization_config")


@pytest.mark.parametrize("text", [*SAMPLES, "e\u0301 豈", ""])
def test_transformers_tokenizes_as_we_do(source: Path, exported: Path, text: str) -> None:
    assert AutoTokenizer.from_pretrained(exported)(text)["input_ids"] == Tokenizer(source).encode(text)


def test_transformers_renders_as_we_do(source: Path, exported: Path) -> None:
    theirs, ours = AutoTokenizer.from_pretrained(exported), Tokenizer(source)
    messages = [{"role": "system", "content": "提取"}, {"role": "user", "content": "天津市"}]
    rendered = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    assert rendered == ours.render(messages)
    assert theirs(rendered)["input_ids"] == ours.encode_control(rendered)
    assert theirs.eos_token_id == ours.eos_token_ids[0]


def test_our_own_rooms_read_it_too(source: Path, exported: Path) -> None:
    assert Tokenizer(exported).encode(SAMPLES[1]) == Tokenizer(source).encode(SAMPLES[1])
    assert {name: tensor.dtype for name, tensor in Weights(exported).items()} == dict.fromkeys(Weights(source), "bf16")
    assert (exported / "README.md").read_text() == "# A model card\n"
    assert sorted(path.name for path in exported.parent.iterdir()) == ["model"]


def test_what_is_there_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for occupied in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UsageError, match="holds something already"):
            export_hugging_face(source, occupied)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_empty_folder_is_filled(source: Path, tmp_path: Path) -> None:
    export_hugging_face(source, tmp_path)
    assert (tmp_path / "model.safetensors").is_file()


def test_a_failure_leaves_nothing(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copydesk.models.unpacked.write_tensors", full)
    with pytest.raises(UsageError, match="No space left"):
        export_hugging_face(source, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_ordinary_folder_is_refused(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="already"):
        export_hugging_face(exported, tmp_path / "again")
