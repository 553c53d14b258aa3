"""The folder that ships: small enough, complete, its tokenizer clean and lossless, its values exact in bfloat16."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.models.config import ModelConfig
from copydesk.models.resolve import BUILTIN, BUILTIN_FOLDER, resolve
from copydesk.models.tokenizer import Tokenizer
from copydesk.models.weights import Weights
from copydesk.tasks.builtin import AGNEWS_LABELS
from copydesk.training.vocabulary import CONTROL_TOKENS, Vocabulary, is_clean

ANSWER = (
    '{"province": "湖南省", "city": "长沙市", "district": "", "specific_location": "桃花岭路189号（东）", '
    '"name": "江雨桐", "phone": "021-17613435"}'
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(resolve(None))


def test_it_has_at_most_25_megabytes() -> None:
    assert sum(path.stat().st_size for path in BUILTIN_FOLDER.rglob("*") if path.is_file()) <= 25_000_000


def test_config_weights_and_tokenizer_belong_together(tokenizer: Tokenizer) -> None:
    config, weights = ModelConfig.read(BUILTIN_FOLDER), Weights(BUILTIN_FOLDER)
    assert (config.name, config.model_type, config.tie_word_embeddings) == (BUILTIN, "qwen3", True)
    assert config.vocab_size == tokenizer.vocab_size == len(weights["model.embed_tokens.weight"].array)
    assert config.num_attention_heads == 2 * config.num_key_value_heads
    assert tokenizer.eos_token_ids == tuple(map(tokenizer.id_of, ("<|im_end|>", "<|endoftext|>")))
    assert config.eos_token_ids[0] == tokenizer.eos_token_ids[0]


def test_every_value_is_exactly_a_bfloat16() -> None:
    for name, tensor in Weights(BUILTIN_FOLDER).items():
        assert tensor.dtype == ("i8" if tensor.array.ndim == 2 else "bf16"), name
        np.testing.assert_array_equal((tensor.bf16().astype(np.uint32) << 16).view(np.float32), tensor.float32())


@given(text=st.text())
def test_any_text_survives_and_yields_no_control_id(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not tokenizer.control_ids.intersection(ids)


def test_its_vocabulary_is_closed_and_clean() -> None:
    vocabulary = Vocabulary.read(BUILTIN_FOLDER)
    assert all(map(is_clean, vocabulary.tokens))
    assert len(vocabulary.parents) == len(vocabulary.tokens) - 256
    assert len(vocabulary.tokens) + len(CONTROL_TOKENS) == ModelConfig.read(BUILTIN_FOLDER).vocab_size


def test_answers_part_at_the_quotation_marks(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(ANSWER)
    marks = {token for token in map(tokenizer.token_bytes, ids) if b'"' in token}
    assert marks == {b'{"', b'":', b' "', b'",', b' "",', b'"}'}
    assert all(len(tokenizer.encode(digit)) == 1 for digit in "0123456789")
    assert all(len(tokenizer.encode(label)) == 1 for label in AGNEWS_LABELS[:3])
