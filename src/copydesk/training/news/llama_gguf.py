"""What a GGUF file holds of a small Llama with a byte-level tokenizer, as Hugging Face has it: weights and tokenizer.

Quantised values are de-quantised once. Knows no network and needs no torch, only the `gguf` package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

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


def value(reader: Any, name: str) -> Any:
    """A setting of the network, by its name without `llama.`; `reader` is a `gguf.GGUFReader`."""
    return reader.fields["llama." + name].contents()


def weights(reader: Any) -> Iterator[tuple[str, np.ndarray]]:
    """All weights under Hugging Face's names, float32, one after the other."""
    from gguf.quants import dequantize

    for tensor in reader.tensors:
        values = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        name = _hugging_face_name(tensor.name)
        if name.endswith("q_proj.weight"):
            values = _unpermuted(values, value(reader, "attention.head_count"))
        elif name.endswith("k_proj.weight"):
            values = _unpermuted(values, value(reader, "attention.head_count_kv"))
        yield name, values


def read_tokenizer(reader: Any) -> Tokenizer:
    """The tokenizer, whose control tokens are ordinary ones still."""
    tokens: list[str] = reader.fields["tokenizer.ggml.tokens"].contents()
    merges: list[str] = reader.fields["tokenizer.ggml.merges"].contents()
    pairs = [(left, right) for left, right in (merge.split(" ", 1) for merge in merges)]
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


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
