"""Counts that several modules of the engine share. Knows no tensors."""

from __future__ import annotations

from dataclasses import dataclass

from copydesk.models.config import ModelConfig


@dataclass(frozen=True, slots=True)
class Heads:
    """Attention heads: how many of queries, how many of keys and values, and features in each."""

    query: int
    kv: int
    size: int

    @classmethod
    def of(cls, config: ModelConfig) -> Heads:
        """Those of a model."""
        return cls(config.num_attention_heads, config.num_key_value_heads, config.head_dim)
