"""Texts are data and survive; control tokens come only from templates; the grammar sees the same vocabulary."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import llguidance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference
from tokenizers import models as reference_models

from copydesk.errors import ModelError, TextError
from copydesk.models.tokenizer import Tokenizer
from models.small_tokenizer import CONTROL, SAMPLES, write_like_llama2, write_like_qwen3

pieces = st.sampled_from([*CONTROL, *SAMPLES, "<|im_", "end|>", "e\u0301", "豈", "\x00", "\r\n", '": "', "▁", "<0x41>"])
texts = st.lists(st.one_of(pieces, st.text()), max_size=6).map("".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_like_qwen3(tmp_path_factory.mktemp("qwen3"))


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer(folder)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer(write_like_llama2(tmp_path_factory.mktemp("llama2")))


@given(text=texts)
def test_any_text_survives_and_yields_no_control_id(tokenizer: Tokenizer, text: str) -> None:
    check(tokenizer, text)


@given(text=texts)
def test_a_sentencepiece_tokenizer_keeps_all_but_its_own_mark(llama: Tokenizer, text: str) -> None:
    check(llama, text.replace("▁", ""))
    assert llama.decode(llama.encode("▁")) == " "


def check(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not tokenizer.control_ids.intersection(ids)
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@given(text=texts)
def test_the_grammar_tokenizes_as_we_do(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.grammar_tokenizer(tokenizer.vocab_size).tokenize_str(text) == tokenizer.encode(text)


@pytest.mark.parametrize("text", SAMPLES)
def test_plain_text_is_encoded_as_the_folders_own_tokenizer_does(folder: Path, tokenizer: Tokenizer, text: str) -> None:
    reference = Reference.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False).ids


def test_a_template_is_encoded_as_the_folders_own_tokenizer_does(folder: Path, tokenizer: Tokenizer) -> None:
    rendered = tokenizer.render([{"role": "system", "content": "天津市"}, {"role": "user", "content": "Sports"}])
    ids = tokenizer.encode_control(rendered)
    assert ids == Reference.from_file(str(folder / "tokenizer.json")).encode(rendered, add_special_tokens=False).ids
    assert tokenizer.decode(ids) == rendered
    assert ids[0] == tokenizer.id_of("<|im_start|>")
    assert ids.count(tokenizer.id_of("<|im_end|>")) == 2
    assert tokenizer.id_of("</think>") in ids


def test_many_texts_are_encoded_like_each(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode_batch([*SAMPLES, "<think>", ""]) == [
        tokenizer.encode(text) for text in [*SAMPLES, "<think>", ""]
    ]


def test_lone_surrogates_are_refused_with_their_place(tokenizer: Tokenizer) -> None:
    with pytest.raises(TextError, match="position 2"):
        tokenizer.encode("ab\ud83d")
    with pytest.raises(TextError, match="position 0"):
        tokenizer.encode_batch(["fine", "\udc00"])


def test_thinking_is_the_templates_choice(tokenizer: Tokenizer) -> None:
    messages = [{"role": "user", "content": "x"}]
    start = "<|im_start|>user\nx<|im_end|>\n"
    assert tokenizer.render(messages) == start + "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert tokenizer.render(messages, thinking=True) == start + "<|im_start|>assistant\n"
    assert tokenizer.render(messages, add_generation_prompt=False) == start


def test_the_template_closes_with_the_first_end_token(folder: Path, tmp_path: Path) -> None:
    end, text_end = (Tokenizer(folder).id_of(token) for token in ("<|im_end|>", "<|endoftext|>"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [text_end, end]}))
    assert Tokenizer(tmp_path).eos_token_ids == (end, text_end)
    (tmp_path / "generation_config.json").unlink()
    assert Tokenizer(tmp_path).eos_token_ids == (end,)
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match="which token ends an answer"):
        _ = Tokenizer(tmp_path).eos_token_ids


def test_the_grammar_ends_at_the_end_tokens_and_never_at_padding(tokenizer: Tokenizer) -> None:
    size = tokenizer.vocab_size + 37
    grammar = tokenizer.grammar_tokenizer(size)
    assert grammar is tokenizer.grammar_tokenizer(size)
    assert (grammar.vocab_size, grammar.eos_tokens) == (size, list(tokenizer.eos_token_ids))
    assert all(grammar.is_special_token(id) for id in [*tokenizer.control_ids, *range(tokenizer.vocab_size, size)])
    matcher = llguidance.LLMatcher(grammar, llguidance.LLMatcher.grammar_from_regex("[a-z<|>_]*"))
    allowed = set(_allowed(matcher.compute_bitmask(), size))
    assert tokenizer.eos_token_ids[0] in allowed
    assert tokenizer.id_of("a") in allowed
    assert tokenizer.id_of("市") not in allowed
    assert tokenizer.id_of("<|im_start|>") not in allowed
    assert not allowed & set(range(tokenizer.vocab_size, size))


def _allowed(mask: bytes, size: int) -> Iterator[int]:
    return (id for id in range(size) if mask[id // 8] >> id % 8 & 1)


def test_a_model_with_fewer_rows_than_tokens_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ModelError, match="do not belong together") as caught:
        tokenizer.grammar_tokenizer(tokenizer.vocab_size - 1)
    assert caught.value.code == "model_invalid"


def test_ids_by_token(tokenizer: Tokenizer, llama: Tokenizer) -> None:
    assert [tokenizer.token_bytes(id) for id in tokenizer.encode("天津市")] == ["天津市".encode()]
    assert tokenizer.id_of("天津市") == tokenizer.encode("天津市")[0]
    assert tokenizer.id_of("no such token") is None
    assert llama.token_bytes(llama.encode(" a")[0]) == b" a"
    assert llama.id_of(" a") == llama.encode(" a")[0]


def test_a_gzipped_tokenizer_is_the_same(folder: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json.gz").write_bytes(gzip.compress((folder / "tokenizer.json").read_bytes()))
    assert Tokenizer(tmp_path).encode(SAMPLES[0]) == tokenizer.encode(SAMPLES[0])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no tokenizer.json"),
        ({"tokenizer.json": b'{"model": '}, "cannot be loaded"),
        ({"tokenizer.json": b"{}"}, "cannot be loaded"),
        ({"tokenizer.json": b"\xff\xfe"}, "cannot be read"),
        ({"tokenizer.json.gz": gzip.compress(b"x" * 1000)[:20]}, "cannot be read"),
        ({"tokenizer.json.gz": b"version https://git-lfs"}, "cannot be read"),
    ],
)
def test_damaged_folders_are_named(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message) as caught:
        Tokenizer(tmp_path)
    assert caught.value.code == "model_invalid"
    assert str(tmp_path) in str(caught.value)


def test_tokenizers_that_cannot_write_every_text_are_refused(tmp_path: Path) -> None:
    Reference(reference_models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]")).save(
        str(tmp_path / "tokenizer.json")
    )
    with pytest.raises(ModelError, match="cannot write every text") as caught:
        Tokenizer(tmp_path)
    assert caught.value.code == "model_unsupported"
