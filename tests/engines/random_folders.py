"""Hugging Face folders with random weights, small or not, in every form that the engines read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from copydesk.models.tensorfile import Stored, write_tensors
from copydesk.models.weights import EXPONENT, SINGLE_FILE, quantize_rows, to_bf16

Form = Literal["f32", "f16", "bf16", "nano", "nano, written out"]
"""`nano` is the built-in model's own form; written out, the same values in an ordinary fp32 folder."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a model; the defaults are as small as still has layers, groups of heads and two quantisation groups."""

    model_type: str = "qwen3"
    vocab_size: int = 320
    hidden_size: int = 128
    intermediate_size: int = 192
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    tied: bool = True
    attention_bias: bool = False
    rope_theta: float = 1e6
    rope_scaling: dict[str, Any] | None = None
    max_position_embeddings: int = 512


def write_folder(folder: Path, shape: Shape, form: Form = "f32", *, seed: int = 0) -> Path:
    """Fill `folder` (made if need be) with `config.json` and `model.safetensors`; no tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    stored: dict[str, Stored] = {}
    for name, values in random_weights(shape, seed):
        stored |= _stored(name, values, form)
    write_tensors(folder / SINGLE_FILE, stored)
    (folder / "config.json").write_text(json.dumps(_config(shape, form)))
    return folder


def random_weights(shape: Shape, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """All tensors of the model, float32, one after the other."""
    random = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        values = random.standard_normal((rows, columns), np.float32)
        values *= columns**-0.5
        return values

    def vector(size: int) -> np.ndarray:
        return 1 + 0.2 * random.standard_normal(size, np.float32)

    yield "model.embed_tokens.weight", matrix(shape.vocab_size, shape.hidden_size)
    if not shape.tied:
        yield "lm_head.weight", matrix(shape.vocab_size, shape.hidden_size)
    queries, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}"
        projections = {
            "self_attn.q_proj": (queries, shape.hidden_size),
            "self_attn.k_proj": (keys, shape.hidden_size),
            "self_attn.v_proj": (keys, shape.hidden_size),
            "self_attn.o_proj": (shape.hidden_size, queries),
            "mlp.gate_proj": (shape.intermediate_size, shape.hidden_size),
            "mlp.up_proj": (shape.intermediate_size, shape.hidden_size),
            "mlp.down_proj": (shape.hidden_size, shape.intermediate_size),
        }
        for name, size in projections.items():
            yield f"{prefix}.{name}.weight", matrix(*size)
            if shape.attention_bias and name.startswith("self_attn"):
                yield f"{prefix}.{name}.bias", 0.1 * vector(size[0])
        norms = {"input_layernorm": shape.hidden_size, "post_attention_layernorm": shape.hidden_size}
        if shape.model_type == "qwen3":
            norms |= {"self_attn.q_norm": shape.head_dim, "self_attn.k_norm": shape.head_dim}
        for name, length in norms.items():
            yield f"{prefix}.{name}.weight", vector(length)
    yield "model.norm.weight", vector(shape.hidden_size)


def _stored(name: str, values: np.ndarray, form: Form) -> dict[str, Stored]:
    """The tensors that the file holds for one of the model."""
    if form.startswith("nano") and values.ndim == 2:
        codes, exponents = quantize_rows(values)
        if form == "nano":
            return {name: ("i8", codes), f"{name}{EXPONENT}": ("i8", exponents)}
        return {name: ("f32", np.ldexp(codes.astype(np.float32), exponents[:, None].astype(np.int32)))}
    if form == "f32":
        return {name: ("f32", values)}
    if form == "f16":
        return {name: ("f16", values.astype(np.float16))}
    return {name: ("bf16", to_bf16(values))}


def _config(shape: Shape, form: Form) -> dict[str, Any]:
    config: dict[str, Any] = {
        "architectures": ["Qwen3ForCausalLM" if shape.model_type == "qwen3" else "LlamaForCausalLM"],
        "model_type": shape.model_type,
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": shape.rope_theta,
        "rope_scaling": shape.rope_scaling,
        "tie_word_embeddings": shape.tied,
        "attention_bias": shape.attention_bias,
        "max_position_embeddings": shape.max_position_embeddings,
        "eos_token_id": 0,
        "dtype": {"f16": "float16", "f32": "float32"}.get(form, "bfloat16"),
    }
    if form == "nano":
        config["quantization_config"] = {"quant_method": "copydesk", "bits": 8, "scale": "power_of_two_per_row"}
    return config
