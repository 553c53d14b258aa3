from pathlib import Path

import gguf
import numpy as np
import pytest

from copydesk.training.news.llama_gguf import read_tokenizer, value, weights
from training.news.llama_file import SIZE, write_llama_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def test_weights_are_in_halves_again_and_dequantised(file: Path) -> None:
    arrays = write_llama_file(file)
    reader = gguf.GGUFReader(file)
    found = dict(weights(reader))
    layer = "model.layers.0"
    for theirs, ours in (
        ("token_embd", "model.embed_tokens"),
        ("blk.0.attn_q", f"{layer}.self_attn.q_proj"),
        ("blk.0.attn_k", f"{layer}.self_attn.k_proj"),
        ("blk.0.attn_v", f"{layer}.self_attn.v_proj"),
        ("blk.0.ffn_norm", f"{layer}.post_attention_layernorm"),
    ):
        np.testing.assert_array_equal(found[f"{ours}.weight"], arrays[theirs])
    up = found[f"{layer}.mlp.up_proj.weight"]
    np.testing.assert_allclose(up, arrays["blk.0.ffn_up"], atol=0.02)
    assert not np.array_equal(up, arrays["blk.0.ffn_up"])
    assert len(found) == len(arrays)
    assert value(reader, "embedding_length") == SIZE


def test_the_tokenizer_splits_digits_and_gives_texts_back(file: Path) -> None:
    write_llama_file(file)
    tokenizer = read_tokenizer(gguf.GGUFReader(file))
    assert tokenizer.decode(tokenizer.encode("hehe he42").ids) == "hehe he42"
    assert tokenizer.encode(" he").tokens == ["Ġhe"]
    assert tokenizer.encode("42").tokens == ["4", "2"]
