"""The models of `random_folders` as GGUF files, for llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import gguf

from copydesk.bench.gguf_file import gguf_name
from engines.random_folders import Shape, random_weights


def write_gguf(path: Path, shape: Shape, form: Literal["f32", "q8_0"] = "f32", *, seed: int = 0) -> Path:
    """A Qwen3-shaped model without a tokenizer at `path`."""
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_name("random")
    writer.add_vocab_size(shape.vocab_size)
    writer.add_context_length(shape.max_position_embeddings)
    writer.add_embedding_length(shape.hidden_size)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.intermediate_size)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("none")
    for name, values in random_weights(shape, seed):
        kind = gguf.GGMLQuantizationType.Q8_0 if form == "q8_0" and values.ndim == 2 else None
        stored = values if kind is None else gguf.quants.quantize(values, kind)
        writer.add_tensor(gguf_name(name), stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
