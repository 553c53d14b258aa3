"""A GGUF file as a folder: the same weights and tokens, in the form that every engine reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")
import copydesk
from copydesk.bench.engines.smollm2 import write_folder
from copydesk.errors import ModelError, UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import Weights
from training.news.llama_file import CONTROL, TEMPLATE, write_llama_file


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("smollm2")
    arrays = write_llama_file(folder / "small.gguf")
    write_folder(folder / "small.gguf", folder / "small")
    return folder / "small", arrays


def test_weights_and_tokens(arrays: tuple[Path, dict[str, np.ndarray]]) -> None:
    folder, written = arrays
    weights = Weights(folder)
    assert len(weights) == len(written)
    query = weights["model.layers.0.self_attn.q_proj.weight"].float32()
    np.testing.assert_allclose(query, written["blk.0.attn_q"], rtol=2**-8)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert (config["tie_word_embeddings"], config["head_dim"], config["eos_token_id"]) == (True, 16, 2)
    tokenizer = Tokenizer(folder)
    assert tokenizer.decode(tokenizer.encode("he 42")) == "he 42"
    described = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert (described["chat_template"], described["eos_token"]) == (TEMPLATE, CONTROL[2])


def test_an_engine_answers_with_it(arrays: tuple[Path, dict[str, np.ndarray]]) -> None:
    with copydesk.load(arrays[0], engine="openvino", learn=False) as model:
        assert model.name == "small"
        assert model.classify("hehe", ["he", "2"]).value in ("he", "2")


def test_transformers_reads_it_alike(arrays: tuple[Path, dict[str, np.ndarray]]) -> None:
    transformers = pytest.importorskip("transformers", reason="copydesk[transformers] is not installed")
    tokenizer = transformers.AutoTokenizer.from_pretrained(arrays[0])
    messages = [{"role": "user", "content": "hehe 42"}]
    tokens = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)["input_ids"]
    ours = Tokenizer(arrays[0])
    assert tokens[0] == tokenizer.convert_tokens_to_ids("<|im_start|>") == 1
    inner = ours.encode("hehe 42")
    assert any(tokens[place : place + len(inner)] == list(inner) for place in range(len(tokens)))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        write_folder(tmp_path / "none.gguf", tmp_path / "folder")
    (tmp_path / "bad.gguf").write_bytes(b"nothing of the kind")
    with pytest.raises(ModelError, match="no small Llama"):
        write_folder(tmp_path / "bad.gguf", tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
