"""A plain Llama in torch, for the teacher: a causal pass for training, a one-token step with a cache for sampling.

Weights come under Hugging Face's tensor names. Knows no file format, no tokenizer, no task. Sequences of one batch are
padded on the right, which a causal model never sees, so no pass needs a mask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class LlamaShape:
    """Sizes of the network. `attention_heads` is a multiple of `key_value_heads`."""

    hidden_size: int
    intermediate_size: int
    layers: int
    attention_heads: int
    key_value_heads: int
    vocabulary: int
    rope_theta: float
    epsilon: float
    positions: int = 512
    """Longest sequence, in tokens: the rotary tables are made for so many."""

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.attention_heads


class Cache:
    """Keys and values of a batch of sequences of equal length: per layer `[2, batch, heads, positions, head_size]`."""

    def __init__(self, shape: LlamaShape, batch: int, positions: int, like: Tensor) -> None:
        size = (2, batch, shape.key_value_heads, positions, shape.head_size)
        self.layers = [like.new_empty(size) for _ in range(shape.layers)]

    def keep(self, rows: Tensor) -> None:
        """Keeps the batch's given rows alone."""
        for index, layer in enumerate(self.layers):
            self.layers[index] = layer.index_select(1, rows)


class Block(nn.Module):
    """One layer: attention and the gated feed-forward, each with its norm and residual."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.shape = shape
        self.widths = [heads * shape.head_size for heads in (shape.attention_heads, shape.key_value_heads)]
        self.attention_norm = nn.Parameter(torch.ones(shape.hidden_size))
        self.query_key_value = nn.Linear(shape.hidden_size, self.widths[0] + 2 * self.widths[1], bias=False)
        self.attention_output = nn.Linear(self.widths[0], shape.hidden_size, bias=False)
        self.feed_norm = nn.Parameter(torch.ones(shape.hidden_size))
        self.gate_up = nn.Linear(shape.hidden_size, 2 * shape.intermediate_size, bias=False)
        self.down = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, hidden: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """A causal pass over `hidden` `[batch, tokens, hidden_size]`."""
        query, key, value = self._project(hidden, cosine, sine)
        groups = self.shape.attention_heads // self.shape.key_value_heads
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self._finish(hidden, attended.transpose(1, 2).flatten(2))

    def step(self, hidden: Tensor, cosine: Tensor, sine: Tensor, cached: Tensor, position: int) -> Tensor:
        """A pass over one token a sequence, `hidden` `[batch, 1, hidden_size]`; writes `cached` at `position`."""
        query, key, value = self._project(hidden, cosine, sine)
        cached[0, :, :, position] = key[:, :, 0]
        cached[1, :, :, position] = value[:, :, 0]
        seen = cached[:, :, :, : position + 1]
        # The query heads that share a key head stand as its queries: no key is repeated.
        grouped = query.view(query.shape[0], self.shape.key_value_heads, -1, self.shape.head_size)
        attended = functional.scaled_dot_product_attention(grouped, seen[0], seen[1])
        return self._finish(hidden, attended.reshape(query.shape[0], 1, -1))

    def _project(self, hidden: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        normed = functional.rms_norm(hidden, (self.shape.hidden_size,), self.attention_norm, self.shape.epsilon)
        parts = self.query_key_value(normed).split([self.widths[0], self.widths[1], self.widths[1]], -1)
        query, key, value = (part.unflatten(-1, (-1, self.shape.head_size)).transpose(1, 2) for part in parts)
        return _rotate(query, cosine, sine), _rotate(key, cosine, sine), value

    def _finish(self, hidden: Tensor, attended: Tensor) -> Tensor:
        hidden = hidden + self.attention_output(attended)
        normed = functional.rms_norm(hidden, (self.shape.hidden_size,), self.feed_norm, self.shape.epsilon)
        gate, up = self.gate_up(normed).chunk(2, -1)
        output: Tensor = hidden + self.down(functional.silu(gate) * up)
        return output


class Llama(nn.Module):
    """The network up to the last norm; `scores` adds the tied output projection."""

    cosine: Tensor
    sine: Tensor

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.empty(shape.vocabulary, shape.hidden_size))
        nn.init.normal_(self.embedding, std=0.02)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.Parameter(torch.ones(shape.hidden_size))
        exponents = torch.arange(0, shape.head_size, 2, dtype=torch.float64) / shape.head_size
        angles = torch.outer(torch.arange(shape.positions, dtype=torch.float64), shape.rope_theta**-exponents)
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Hidden states `[batch, tokens, hidden_size]` after the last norm, for `tokens` `[batch, tokens]`."""
        cosine, sine = self._angles(0, tokens.shape[1])
        hidden = functional.embedding(tokens, self.embedding)
        for block in self.blocks:
            hidden = block(hidden, cosine, sine)
        return functional.rms_norm(hidden, (self.shape.hidden_size,), self.norm, self.shape.epsilon)

    def step(self, tokens: Tensor, cache: Cache, position: int) -> Tensor:
        """Hidden states `[batch, hidden_size]` after one more token a sequence; all sequences stand at `position`."""
        cosine, sine = self._angles(position, position + 1)
        hidden = functional.embedding(tokens[:, None], self.embedding)
        for block, cached in zip(self.blocks, cache.layers, strict=True):
            hidden = block.step(hidden, cosine, sine, cached, position)  # type: ignore[operator]
        hidden = functional.rms_norm(hidden, (self.shape.hidden_size,), self.norm, self.shape.epsilon)
        return hidden[:, 0]

    def scores(self, hidden: Tensor) -> Tensor:
        """Next-token scores `[..., vocabulary]`."""
        return functional.linear(hidden, self.embedding)

    def _angles(self, start: int, end: int) -> tuple[Tensor, Tensor]:
        return self.cosine[start:end].to(self.norm.dtype), self.sine[start:end].to(self.norm.dtype)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Copies weights in, given under Hugging Face's names (`model.layers.0.self_attn.q_proj.weight`, ...)."""
        state = {"embedding": weights["model.embed_tokens.weight"], "norm": weights["model.norm.weight"]}
        for number in range(self.shape.layers):
            source, target = f"model.layers.{number}.", f"blocks.{number}."
            attention = [weights[f"{source}self_attn.{part}_proj.weight"] for part in "qkv"]
            gates = [weights[f"{source}mlp.{part}_proj.weight"] for part in ("gate", "up")]
            state |= {
                target + "attention_norm": weights[source + "input_layernorm.weight"],
                target + "query_key_value.weight": torch.cat(attention),
                target + "attention_output.weight": weights[source + "self_attn.o_proj.weight"],
                target + "feed_norm": weights[source + "post_attention_layernorm.weight"],
                target + "gate_up.weight": torch.cat(gates),
                target + "down.weight": weights[source + "mlp.down_proj.weight"],
            }
        self.load_state_dict(state)


def _rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary position of `[batch, heads, tokens, head_size]`, halves paired as Hugging Face pairs them."""
    first, second = heads.chunk(2, -1)
    turned = torch.cat((-second, first), -1)
    return heads * cosine + turned * sine
