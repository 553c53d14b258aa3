"""Reads a SmolLM2 (or any small Llama with a byte-level tokenizer) from one GGUF file: weights, sizes and tokenizer.

Knows no training, and nothing of how the file holds weights. Needs the `gguf` package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from copydesk.training.news.llama import Llama, LlamaShape
from copydesk.training.news.llama_gguf import read_tokenizer, value, weights

END_OF_DOCUMENT = "<|endoftext|>"


def read_smollm2(path: Path, *, positions: int = 512) -> tuple[Llama, Tokenizer]:
    """The model in float32 on the CPU, and its tokenizer. Sequences hold at most `positions` tokens."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    model = Llama(_shape(reader, positions))
    model.load({name: torch.from_numpy(values.copy()) for name, values in weights(reader)})
    return model, read_tokenizer(reader)


def _shape(reader: Any, positions: int) -> LlamaShape:
    return LlamaShape(
        hidden_size=value(reader, "embedding_length"),
        intermediate_size=value(reader, "feed_forward_length"),
        layers=value(reader, "block_count"),
        attention_heads=value(reader, "attention.head_count"),
        key_value_heads=value(reader, "attention.head_count_kv"),
        vocabulary=value(reader, "vocab_size"),
        rope_theta=value(reader, "rope.freq_base"),
        epsilon=value(reader, "attention.layer_norm_rms_epsilon"),
        positions=positions,
    )
