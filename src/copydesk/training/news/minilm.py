"""A BERT-shaped encoder in plain torch with mean pooling: the second teacher, MiniLM.

Reads a safetensors file with Hugging Face's BERT names, whole or packed into 8 bits a weight by `pack`. Knows no
training.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

HEAD_SIZE = 32
EPSILON = 1e-12
_SCALE = ".scale"


class EncoderBlock(nn.Module):
    """One post-norm encoder layer."""

    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.attention_output = nn.Linear(hidden_size, hidden_size)
        self.attention_norm = nn.LayerNorm(hidden_size, eps=EPSILON)
        self.up = nn.Linear(hidden_size, intermediate_size)
        self.down = nn.Linear(intermediate_size, hidden_size)
        self.feed_norm = nn.LayerNorm(hidden_size, eps=EPSILON)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """`hidden` `[batch, tokens, hidden_size]`, `mask` `[batch, 1, 1, tokens]`, true where a token stands."""
        parts = self.query_key_value(hidden).chunk(3, -1)
        query, key, value = (part.unflatten(-1, (-1, HEAD_SIZE)).transpose(1, 2) for part in parts)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        hidden = self.attention_norm(hidden + self.attention_output(attended.transpose(1, 2).flatten(2)))
        output: Tensor = self.feed_norm(hidden + self.down(functional.gelu(self.up(hidden))))
        return output


class Encoder(nn.Module):
    """Token ids in, one pooled vector a text out."""

    def __init__(self, vocabulary: int, hidden_size: int, intermediate_size: int, layers: int, positions: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.words = nn.Embedding(vocabulary, hidden_size)
        self.positions = nn.Parameter(torch.zeros(positions, hidden_size))
        self.norm = nn.LayerNorm(hidden_size, eps=EPSILON)
        self.blocks = nn.ModuleList(EncoderBlock(hidden_size, intermediate_size) for _ in range(layers))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Means over each text's tokens, `[batch, hidden_size]`; `tokens` `[batch, tokens]` padded on the right."""
        mask = torch.arange(tokens.shape[1], device=tokens.device)[None] < lengths[:, None]
        hidden = self.norm(self.words(tokens) + self.positions[: tokens.shape[1]])
        for block in self.blocks:
            hidden = block(hidden, mask[:, None, None])
        weights = mask[:, :, None].to(hidden.dtype)
        pooled: Tensor = (hidden * weights).sum(1) / weights.sum(1)
        return pooled


def read_minilm(path: Path, tokenizer_path: Path) -> tuple[Encoder, Tokenizer]:
    """The encoder in float32 on the CPU, and its tokenizer (no padding, no cutting)."""
    stored = load_file(path)
    values: dict[str, Tensor] = {}
    for name, array in stored.items():
        if name.endswith(_SCALE):
            continue
        scale = stored.get(name + _SCALE)
        values[name] = torch.from_numpy(array.astype(np.float32) * (1 if scale is None else scale.astype(np.float32)))
    layers = 1 + max(int(name.split(".")[2]) for name in values if name.startswith("encoder.layer."))
    words, positions = values["embeddings.word_embeddings.weight"], values["embeddings.position_embeddings.weight"]
    intermediate_size = values["encoder.layer.0.intermediate.dense.weight"].shape[0]
    encoder = Encoder(words.shape[0], words.shape[1], intermediate_size, layers, positions.shape[0])
    state = {
        "words.weight": words,
        # Every text is of the first kind, so its kind's embedding is a constant.
        "positions": positions + values["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": values["embeddings.LayerNorm.weight"],
        "norm.bias": values["embeddings.LayerNorm.bias"],
    }
    for number in range(layers):
        source, target = f"encoder.layer.{number}.", f"blocks.{number}."
        for kind in ("weight", "bias"):
            parts = [values[f"{source}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            state |= {
                f"{target}query_key_value.{kind}": torch.cat(parts),
                f"{target}attention_output.{kind}": values[f"{source}attention.output.dense.{kind}"],
                f"{target}attention_norm.{kind}": values[f"{source}attention.output.LayerNorm.{kind}"],
                f"{target}up.{kind}": values[f"{source}intermediate.dense.{kind}"],
                f"{target}down.{kind}": values[f"{source}output.dense.{kind}"],
                f"{target}feed_norm.{kind}": values[f"{source}output.LayerNorm.{kind}"],
            }
    encoder.load_state_dict(state)
    tokenizer: Tokenizer = Tokenizer.from_file(str(tokenizer_path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return encoder, tokenizer


def pack(source: Path, target: Path) -> None:
    """Writes the matrices of a safetensors file as 8-bit values with one float16 scale a row, a quarter of the size."""
    packed: dict[str, np.ndarray] = {}
    for name, array in load_file(source).items():
        if array.ndim != 2 or not np.issubdtype(array.dtype, np.floating):
            if np.issubdtype(array.dtype, np.floating):
                packed[name] = array.astype(np.float16)
            continue
        scale = (np.abs(array).max(1, keepdims=True) / 127 + 1e-8).astype(np.float16)
        packed[name] = np.clip(np.rint(array / scale.astype(np.float32)), -127, 127).astype(np.int8)
        packed[name + _SCALE] = scale
    save_file(packed, target)
