"""Qwen3 in plain torch, for training: the arithmetic and the parameter names of Transformers' Qwen3ForCausalLM.

Works on any leading shape: `[tokens, hidden]` of packed sequences, `[batch, length, hidden]` when decoding. Knows no
tokenizer, no loss and no cache; how queries meet keys is handed in by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

Attend = Callable[[Tensor, Tensor, Tensor, Any], Tensor]
"""Causal attention `(queries, keys, values, context)`: queries `[..., heads, head_dim]`, keys and values
`[..., key_value_heads, head_dim]`; returns the queries' shape. `context` is what changes from block to block: a mask,
bounds, a cache."""


@dataclass(frozen=True)
class Shape:
    """The sizes of the network; defaults are those of the built-in model."""

    vocab_size: int
    hidden_size: int = 384
    intermediate_size: int = 1024
    num_hidden_layers: int = 8
    num_attention_heads: int = 6
    num_key_value_heads: int = 3
    head_dim: int = 128
    rms_norm_eps: float = 1e-6
    rope_theta: float = 1e6
    max_position_embeddings: int = 4096

    def to_config(self, eos_token_id: int) -> dict[str, Any]:
        """What Transformers reads from `config.json`."""
        return asdict(self) | {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "attention_bias": False,
            "attention_dropout": 0.0,
            "hidden_act": "silu",
            "initializer_range": 0.02,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "use_cache": True,
            "bos_token_id": None,
            "eos_token_id": eos_token_id,
            "rope_scaling": None,
            "use_sliding_window": False,
            "sliding_window": None,
        }


class RootMeanSquareNorm(nn.Module):
    """Divides by the root mean square over the last dimension, in float32, then scales."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


class Rotary:
    """Cosines and sines of the rotary position embedding, float32 `[positions, head_dim / 2]`."""

    def __init__(self, shape: Shape, device: torch.device | str) -> None:
        exponents = torch.arange(0, shape.head_dim, 2, dtype=torch.int64, device=device).float() / shape.head_dim
        frequencies = 1.0 / (shape.rope_theta**exponents)
        positions = torch.arange(shape.max_position_embeddings, dtype=torch.float32, device=device)
        angles = positions[:, None] * frequencies
        self.cos, self.sin = angles.cos(), angles.sin()

    def at(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """For positions of any shape, with a dimension inserted for the heads."""
        return self.cos[positions].unsqueeze(-2), self.sin[positions].unsqueeze(-2)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates the pairs (i, i + head_dim / 2) of `[..., heads, head_dim]` by the angles of the position."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.head_dim = shape.head_dim
        queries, keys = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
        self.sizes = [queries, keys, keys]
        self.q_proj = nn.Linear(shape.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, shape.hidden_size, bias=False)
        self.q_norm = RootMeanSquareNorm(shape.head_dim, shape.rms_norm_eps)
        self.k_norm = RootMeanSquareNorm(shape.head_dim, shape.rms_norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend, context: Any) -> Tensor:
        # One product for the three projections: they are too narrow to fill a GPU apart.
        weight = torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight))
        q, k, v = torch.split(F.linear(x, weight), self.sizes, dim=-1)
        q = rotate(self.q_norm(self._heads(q)), cos, sin)
        k = rotate(self.k_norm(self._heads(k)), cos, sin)
        attended = attend(q, k, self._heads(v).contiguous(), context)
        mixed: Tensor = self.o_proj(attended.flatten(-2))
        return mixed

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], -1, self.head_dim)


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = F.linear(x, torch.cat((self.gate_proj.weight, self.up_proj.weight))).chunk(2, dim=-1)
        mixed: Tensor = self.down_proj(F.silu(gate) * up)
        return mixed


class Layer(nn.Module):
    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.input_layernorm = RootMeanSquareNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RootMeanSquareNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = FeedForward(shape)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend, context: Any) -> Tensor:
        x = x + self._dropped(self.self_attn(self.input_layernorm(x), cos, sin, attend, context))
        return x + self._dropped(self.mlp(self.post_attention_layernorm(x)))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x


class Qwen3(nn.Module):
    """The network; `state_dict()` has Hugging Face's names (the output projection is the embedding)."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(shape.vocab_size, shape.hidden_size),
                "layers": nn.ModuleList(Layer(shape, dropout) for _ in range(shape.num_hidden_layers)),
                "norm": RootMeanSquareNorm(shape.hidden_size, shape.rms_norm_eps),
            }
        )

    @property
    def embedding(self) -> Tensor:
        """`[vocab_size, hidden_size]`, also the output projection."""
        return self.get_parameter("model.embed_tokens.weight")

    @property
    def layers(self) -> nn.ModuleList:
        layers = self.model["layers"]
        if not isinstance(layers, nn.ModuleList):
            raise TypeError("the layers of the network are a ModuleList")
        return layers

    def initialise(self, seed: int) -> None:
        """Draws the weights: normal, standard deviation 0.02, smaller where a layer writes to the residual stream."""
        generator = torch.Generator().manual_seed(seed)
        residual = 0.02 / (2 * self.shape.num_hidden_layers) ** 0.5
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if parameter.ndim == 2:
                    deviation = residual if name.endswith(("o_proj.weight", "down_proj.weight")) else 0.02
                    parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
                else:
                    parameter.fill_(1.0)

    def forward(self, tokens: Tensor, cos: Tensor, sin: Tensor, attend: Attend, contexts: Sequence[Any]) -> Tensor:
        """Hidden states `[..., hidden_size]` after the final norm, for tokens of any shape.

        `cos` and `sin` come from `Rotary.at`; `contexts` holds each layer's context for `attend`.
        """
        x = F.embedding(tokens, self.embedding)
        if self.dropout:
            x = F.dropout(x, self.dropout, self.training)
        for layer, context in zip(self.layers, contexts, strict=True):
            x = layer(x, cos, sin, attend, context)
        normed: Tensor = self.model["norm"](x)
        return normed

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embedding)

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Copies weights by Hugging Face name. Errors: `RuntimeError` for a name or shape that does not fit."""
        self.load_state_dict({name: value for name, value in tensors.items() if name != "lm_head.weight"})
