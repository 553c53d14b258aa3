"""A small Llama as a GGUF file, as llama.cpp's converter lays one out."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from tokenizers.pre_tokenizers import ByteLevel

HEADS, KEY_HEADS, SIZE, FEED = 2, 1, 32, 64
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_llama_file(path: Path, *, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; the weights by GGUF's names, as they are before they are stored."""
    random = np.random.default_rng(seed)
    tokens = [*CONTROL, *sorted(ByteLevel.alphabet()), "he", "Ġhe"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(2048)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(FEED)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_rope_dimension_count(SIZE // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(CONTROL) + [1] * (len(tokens) - len(CONTROL)))
    writer.add_token_merges(["h e", "Ġ he"])
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
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


def permuted(values: np.ndarray, heads: int) -> np.ndarray:
    """Query and key rows as llama.cpp's converter stores them."""
    rows, columns = values.shape
    return values.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
