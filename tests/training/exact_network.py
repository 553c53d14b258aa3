"""Qwen3's forward pass in float64 NumPy, straight from its definition: what other arithmetic is measured by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from copydesk.models.config import ModelConfig

Weights = Mapping[str, np.ndarray]


def stream(weights: Weights, config: ModelConfig, tokens: Sequence[int]) -> np.ndarray:
    """The residual stream after the last layer: `[tokens, hidden_size]`."""
    x = np.asarray(weights["model.embed_tokens.weight"], np.float64)[list(tokens)]
    for layer in range(config.num_hidden_layers):
        own = {n.removeprefix(f"model.layers.{layer}."): w for n, w in weights.items() if f"layers.{layer}." in n}
        x = x + _attention(own, config, _norm(x, own["input_layernorm.weight"], config))
        states = _norm(x, own["post_attention_layernorm.weight"], config)
        gate = states @ own["mlp.gate_proj.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * (states @ own["mlp.up_proj.weight"].T)) @ own["mlp.down_proj.weight"].T
    return x


def logits(weights: Weights, config: ModelConfig, tokens: Sequence[int]) -> np.ndarray:
    """`[tokens, vocab_size]`."""
    states = _norm(stream(weights, config, tokens), weights["model.norm.weight"], config)
    return states @ weights["model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"].T


def log_sum_exp(rows: np.ndarray) -> np.ndarray:
    highest = rows.max(1)
    return highest + np.log(np.exp(rows - highest[:, None]).sum(1))


def _attention(own: Weights, config: ModelConfig, states: np.ndarray) -> np.ndarray:
    query, key, value = (
        (states @ own[f"self_attn.{name}_proj.weight"].T).reshape(len(states), -1, config.head_dim) for name in "qkv"
    )
    query = _rotate(_norm(query, own["self_attn.q_norm.weight"], config), config)
    key = _rotate(_norm(key, own["self_attn.k_norm.weight"], config), config)
    group = config.num_attention_heads // config.num_key_value_heads
    key, value = np.repeat(key, group, 1), np.repeat(value, group, 1)
    scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(config.head_dim)
    scores = np.where(np.tri(len(states), dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(2, keepdims=True))
    shares /= shares.sum(2, keepdims=True)
    return np.einsum("hqk,khd->qhd", shares, value).reshape(len(states), -1) @ own["self_attn.o_proj.weight"].T


def _norm(x: np.ndarray, gains: np.ndarray, config: ModelConfig) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + config.rms_norm_eps) * gains


def _rotate(x: np.ndarray, config: ModelConfig) -> np.ndarray:
    angles = np.arange(len(x))[:, None] / config.rope_theta ** (np.arange(0, config.head_dim, 2) / config.head_dim)
    turned = (x[..., : config.head_dim // 2] + 1j * x[..., config.head_dim // 2 :]) * np.exp(1j * angles)[:, None]
    return np.concatenate([turned.real, turned.imag], -1)
