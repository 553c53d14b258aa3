"""Small models of other architectures than those in `random_folders`, made on the fly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM

_SIZES = {
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "pad_token_id": 0,
}
CONFIGS: dict[str, Callable[[], Any]] = {
    "learned positions": lambda: transformers.GPT2Config(
        vocab_size=320, n_embd=64, n_layer=2, n_head=4, n_positions=128, bos_token_id=1, eos_token_id=1
    ),
    "distances instead of positions": lambda: transformers.BloomConfig(
        vocab_size=320, hidden_size=64, n_layer=2, n_head=4
    ),
    "a window over the tokens": lambda: transformers.MistralConfig(**_SIZES, head_dim=16, sliding_window=8),
    "bent logits": lambda: transformers.Gemma2Config(**_SIZES, head_dim=16, sliding_window=8),
    "experts": lambda: transformers.Qwen3MoeConfig(
        **_SIZES, head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32
    ),
    "a state that cannot be cut": lambda: transformers.MambaConfig(
        vocab_size=320, hidden_size=64, num_hidden_layers=2, state_size=8, bos_token_id=1, eos_token_id=1
    ),
}
"""Configurations by what is special about them."""


def write_architecture(folder: Path, config: Any, *, seed: int = 0) -> Path:
    """A model with this configuration and random float32 weights in `folder`, without a tokenizer."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for parameter in model.parameters():
        if parameter.dim() > 1:  # large enough that attention is no mean
            torch.nn.init.normal_(parameter, std=0.15)
    model.save_pretrained(folder)
    return folder
