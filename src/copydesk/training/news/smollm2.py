"""Reads a SmolLM2 (or any small Llama with a byte-level tokenizer) from one GGUF file: weights, sizes and tokenizer.

The file's quantised values are de-quantised once. Knows no training. Needs the `gguf` package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from copydesk.training.news.llama import Llama, LlamaShape

END_OF_DOCUMENT = "<|endoftext|>"

_LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read_smollm2(path: Path, *, positions: int = 512) -> tuple[Llama, Tokenizer]:
    """The model in float32 on the CPU, and its tokenizer. Sequences hold at most `positions` tokens."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader = GGUFReader(path)
    shape = _shape(reader, positions)
    weights: dict[str, torch.Tensor] = {}
    for tensor in reader.tensors:
        values = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        name = _hugging_face_name(tensor.name)
        if name.endswith("q_proj.weight"):
            values = _unpermuted(values, shape.attention_heads)
        elif name.endswith("k_proj.weight"):
            values = _unpermuted(values, shape.key_value_heads)
        weights[name] = torch.from_numpy(values.copy())
    model = Llama(shape)
    model.load(weights)
    return model, _tokenizer(reader)


def _shape(reader: Any, positions: int) -> LlamaShape:
    def value(name: str) -> Any:
        return reader.fields["llama." + name].contents()

    return LlamaShape(
        hidden_size=value("embedding_length"),
        intermediate_size=value("feed_forward_length"),
        layers=value("block_count"),
        attention_heads=value("attention.head_count"),
        key_value_heads=value("attention.head_count_kv"),
        vocabulary=value("vocab_size"),
        rope_theta=value("rope.freq_base"),
        epsilon=value("attention.layer_norm_rms_epsilon"),
        positions=positions,
    )


def _hugging_face_name(name: str) -> str:
    if name == "token_embd.weight":
        return "model.embed_tokens.weight"
    if name == "output_norm.weight":
        return "model.norm.weight"
    _, number, part, kind = name.split(".")
    return f"model.layers.{number}.{_LAYER_NAMES[part]}.{kind}"


def _unpermuted(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows back in halves: GGUF stores the rotary pairs of a Llama's queries and keys next to each other."""
    rows, columns = values.shape
    return values.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _tokenizer(reader: Any) -> Tokenizer:
    tokens: list[str] = reader.fields["tokenizer.ggml.tokens"].contents()
    merges: list[str] = reader.fields["tokenizer.ggml.merges"].contents()
    pairs = [(left, right) for left, right in (merge.split(" ", 1) for merge in merges)]
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer
