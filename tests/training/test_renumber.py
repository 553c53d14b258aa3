"""The renumbered tokenizer splits every text as before and yields the full tokenizer's ids for the same tokens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from copydesk.errors import UsageError
from copydesk.models.config import read_json
from copydesk.models.tokenizer import Tokenizer, read_tokenizer_json
from copydesk.training.renumber import new_ids, write_renumbered
from models.small_tokenizer import CONTROL, SAMPLES, write_like_llama2, write_like_qwen3
from training.small_vocabulary import SIZE, write_reduced

FULL = 700


class Folders:
    def __init__(self, root: Path) -> None:
        self.full, self.reduced, self.renumbered = root / "full", root / "reduced", root / "renumbered"
        write_like_qwen3(self.full, size=FULL)
        write_reduced(self.full, self.reduced)
        self.ids = new_ids(self.reduced, self.full)
        self.renumbered.mkdir()
        write_renumbered(self.reduced, self.ids, self.renumbered)
        self.tokenizers = tuple(Tokenizer(folder) for folder in (self.full, self.reduced, self.renumbered))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("tokenizers"))


def test_every_token_keeps_its_bytes(folders: Folders) -> None:
    full, reduced, renumbered = folders.tokenizers
    assert len(set(folders.ids.tolist())) == SIZE
    for old, new in enumerate(folders.ids.tolist()):
        assert full.token_bytes(new) == reduced.token_bytes(old) == renumbered.token_bytes(new)
    others = set(range(renumbered.vocab_size)) - set(folders.ids.tolist())
    assert others
    assert all(renumbered.token_bytes(id) == b"" for id in others)
    assert folders.ids.tolist() == sorted(folders.ids.tolist())  # so ties still go to the same token


@given(st.one_of(st.text(), st.lists(st.sampled_from([*SAMPLES, *CONTROL, "市 "])).map("".join)))
def test_every_text_is_split_as_before(folders: Folders, text: str) -> None:
    _, reduced, renumbered = folders.tokenizers
    old, new = reduced.encode(text), renumbered.encode(text)
    assert folders.ids[old].tolist() == new
    assert renumbered.decode(new) == text
    old, new = reduced.encode_control(text), renumbered.encode_control(text)
    assert folders.ids[old].tolist() == new


def test_control_tokens_and_ends(folders: Folders) -> None:
    full, reduced, renumbered = folders.tokenizers
    for token in CONTROL:
        assert renumbered.id_of(token) == full.id_of(token)
    assert renumbered.control_ids == {full.id_of(token) for token in CONTROL}
    assert renumbered.eos_token_ids == tuple(folders.ids[list(reduced.eos_token_ids)])
    assert renumbered.eos_token_ids[0] == full.id_of("<|im_end|>")
    generation = read_json(folders.renumbered / "generation_config.json")
    assert generation["pad_token_id"] == full.id_of("<|endoftext|>")
    assert generation["do_sample"] is False


def test_transformers_reads_it_alike(folders: Folders) -> None:
    theirs, ours = AutoTokenizer.from_pretrained(folders.renumbered), folders.tokenizers[2]
    for text in SAMPLES:
        assert theirs(text)["input_ids"] == ours.encode(text)
    messages = [{"role": "system", "content": "提取"}, {"role": "user", "content": SAMPLES[1]}]
    rendered = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    assert rendered == ours.render(messages)
    assert theirs(rendered)["input_ids"] == ours.encode_control(rendered)
    assert theirs.eos_token_id == ours.eos_token_ids[0]
    assert {theirs.convert_ids_to_tokens(ours.id_of(token)) for token in CONTROL} == set(CONTROL)


def test_the_grammar_finds_its_tokens(folders: Folders) -> None:
    _, reduced, renumbered = folders.tokenizers
    wide = renumbered.grammar_tokenizer(FULL + 36)
    assert wide.vocab_size == FULL + 36
    narrow = reduced.grammar_tokenizer(SIZE)
    for text in SAMPLES:
        assert wide.tokenize_str(text) == folders.ids[narrow.tokenize_str(text)].tolist()


def test_a_tokenizer_of_another_family_is_refused(folders: Folders, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the one that it was cut from"):
        new_ids(folders.reduced, write_like_llama2(tmp_path))


def test_gaps_are_refused(folders: Folders) -> None:
    with pytest.raises(UsageError, match="gaps"):
        new_ids(folders.renumbered, folders.full)


def test_settings_without_ids_stay(folders: Folders, tmp_path: Path) -> None:
    reduced = tmp_path / "reduced"
    reduced.mkdir()
    (reduced / "tokenizer.json").write_text(read_tokenizer_json(folders.reduced), encoding="utf-8")
    (reduced / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>"}')
    (reduced / "generation_config.json").write_text('{"eos_token_id": 3, "bos_token_id": null, "top_k": 1}')
    (tmp_path / "out").mkdir()
    write_renumbered(reduced, np.arange(SIZE) + 7, tmp_path / "out")
    assert json.loads((tmp_path / "out/tokenizer_config.json").read_text()) == {"eos_token": "<|im_end|>"}
    assert read_json(tmp_path / "out/generation_config.json") == {"eos_token_id": 10, "bos_token_id": None, "top_k": 1}
