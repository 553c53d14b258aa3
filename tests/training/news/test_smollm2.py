from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers.pre_tokenizers import ByteLevel

from copydesk.training.news.smollm2 import END_OF_DOCUMENT, read_smollm2

HEADS, KEY_HEADS, SIZE, FEED = 2, 1, 32, 64


def permuted(values: np.ndarray, heads: int) -> np.ndarray:
    """Query and key rows as llama.cpp's converter stores them."""
    rows, columns = values.shape
    return values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_file(path: Path) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    tokens = [END_OF_DOCUMENT, *sorted(ByteLevel.alphabet()), "he", "Ġhe"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(FEED)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_token_list(tokens)
    writer.add_token_merges(["h e", "Ġ he"])
    shapes = {
        "token_embd": (len(tokens), SIZE),
        "output_norm": (SIZE,),
        "blk.0.attn_norm": (SIZE,),
        "blk.0.attn_q": (SIZE, SIZE),
        "blk.0.attn_k": (SIZE // 2, SIZE),
        "blk.0.attn_v": (SIZE // 2, SIZE),
        "blk.0.attn_output": (SIZE, SIZE),
        "blk.0.ffn_norm": (SIZE,),
        "blk.0.ffn_gate": (FEED, SIZE),
        "blk.0.ffn_up": (FEED, SIZE),
        "blk.0.ffn_down": (SIZE, FEED),
    }
    arrays = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    heads = {"blk.0.attn_q": HEADS, "blk.0.attn_k": KEY_HEADS}
    for name, array in arrays.items():
        stored = permuted(array, heads[name]) if name in heads else array
        if name == "blk.0.ffn_up":
            packed = gguf.quants.quantize(stored, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(f"{name}.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(f"{name}.weight", stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return arrays


def test_reads_weights_and_tokenizer(tmp_path: Path) -> None:
    arrays = write_file(tmp_path / "model.gguf")
    model, tokenizer = read_smollm2(tmp_path / "model.gguf", positions=32)
    state = model.state_dict()
    query_key_value = [arrays[f"blk.0.attn_{part}"] for part in "qkv"]
    np.testing.assert_array_equal(state["blocks.0.query_key_value.weight"].numpy(), np.concatenate(query_key_value))
    np.testing.assert_array_equal(state["embedding"].numpy(), arrays["token_embd"])
    up = state["blocks.0.gate_up.weight"][FEED:].numpy()
    np.testing.assert_allclose(up, arrays["blk.0.ffn_up"], atol=0.02)
    assert not np.array_equal(up, arrays["blk.0.ffn_up"])
    assert torch.isfinite(model(torch.tensor([[1, 2, 3]]))).all()
    ids = tokenizer.encode("hehe he42").ids
    assert tokenizer.decode(ids) == "hehe he42"
    assert tokenizer.encode(" he").tokens == ["Ġhe"]
    assert tokenizer.encode("42").tokens == ["4", "2"]
    assert tokenizer.token_to_id(END_OF_DOCUMENT) == 0
