"""The models of `random_folders` as GGUF files, for llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import gguf

from engines.random_folders import Shape, random_weights

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


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
        writer.add_tensor(_gguf_name(name), stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _gguf_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in _NAMES:
        return f"{_NAMES[stem]}.weight"
    layer, _, inner = stem.removeprefix("model.layers.").partition(".")
    return f"blk.{layer}.{_NAMES[inner]}.weight"
