"""A model folder as a GGUF file, usually with 8-bit weights (Q8_0), for a peer that reads no other.

Needs the package `gguf`, of the extra `bench`. Knows Qwen3's network and byte-level tokenizers, and no more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig, read_json
from copydesk.models.tokenizer import read_tokenizer_json
from copydesk.models.weights import Weights

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
_ORDINARY, _CONTROL, _UNUSED = 1, 3, 5
"""Kinds of tokens, as GGUF numbers them."""


def write_gguf(folder: Path, path: Path, *, exact: bool = False) -> None:
    """Write the model in `folder` to `path`: matrices as Q8_0 or, if it is to be `exact`, as float32 like the vectors;
    the tokenizer with the same ids.

    Errors: `UsageError` without the package `gguf`, `ModelError` for a network or tokenizer that is not Qwen3's kind.
    """
    try:
        import gguf
    except ImportError as error:
        raise UsageError("writing GGUF files needs the package gguf; pip install 'copydesk[bench]'") from error
    config = ModelConfig.read(folder)
    if config.model_type != "qwen3":
        raise ModelError(f"{folder} is no Qwen3 network; give one that is", code="model_unsupported")
    unfinished = path.with_name(path.name + ".part")
    writer = gguf.GGUFWriter(unfinished, "qwen3", use_temp_file=False)
    writer.add_name(config.name)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    _add_tokenizer(writer, folder, config)
    for name, tensor in Weights(folder).items():
        values = tensor.float32()
        kind = gguf.GGMLQuantizationType.Q8_0 if values.ndim == 2 and not exact else None
        stored = values if kind is None else gguf.quants.quantize(values, kind)
        writer.add_tensor(gguf_name(name), stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unfinished.rename(path)


def gguf_name(name: str) -> str:
    """What GGUF calls a weight of Hugging Face's name `name`. Errors: `ModelError` for a weight it has no name for."""
    stem = name.removesuffix(".weight")
    if stem in _NAMES:
        return f"{_NAMES[stem]}.weight"
    layer, _, inner = stem.removeprefix("model.layers.").partition(".")
    if inner not in _NAMES:
        raise ModelError(f"a weight {name} is none of a Qwen3 network", code="model_unsupported")
    return f"blk.{layer}.{_NAMES[inner]}.weight"


def _add_tokenizer(writer: Any, folder: Path, config: ModelConfig) -> None:
    """Tokens in the order of their ids; rows without a token get a name that no text has."""
    tokenizer = json.loads(read_tokenizer_json(folder))
    model = tokenizer["model"]
    if model.get("type") != "BPE":
        raise ModelError(f"{folder} has no byte-level BPE tokenizer", code="model_unsupported")
    tokens = [f"[UNUSED{index}]" for index in range(config.vocab_size)]
    kinds = [_UNUSED] * config.vocab_size
    for token, index in model["vocab"].items():
        tokens[index], kinds[index] = token, _ORDINARY
    for added in tokenizer.get("added_tokens", []):
        tokens[added["id"]], kinds[added["id"]] = added["content"], _CONTROL
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_add_bos_token(False)
    writer.add_eos_token_id(config.eos_token_ids[0])
    template = read_json(folder / "tokenizer_config.json").get("chat_template")
    if isinstance(template, str):
        writer.add_chat_template(template)
