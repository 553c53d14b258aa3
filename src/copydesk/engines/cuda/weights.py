"""A model's weights on the device, fused as the network reads them: one matrix for queries, keys and values, one for
gate and up.

Knows nothing of how they are multiplied with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from copydesk.engines.rotary import inverse_frequencies
from copydesk.engines.tensors import Tensors
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Tensor as Stored


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: matrices `[outputs, inputs]`, gains of norms `[features]`."""

    input_gains: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    query_gains: Tensor | None
    key_gains: Tensor | None
    output: Tensor
    output_bias: Tensor | None
    attention_gains: Tensor
    """Of the norm after attention."""
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True)
class Network:
    """All that a forward needs beside its input."""

    config: ModelConfig
    embedding: Tensor
    """`[vocab_size, hidden_size]`."""
    layers: tuple[Layer, ...]
    gains: Tensor
    """Of the last norm."""
    projection: Tensor
    """`[vocab_size, hidden_size]`, the embedding itself where they are tied."""
    cosine: Tensor
    """Float32 `[positions, head_dim / 2]`."""
    sine: Tensor

    @property
    def nbytes(self) -> int:
        """Memory that the matrices take."""
        matrices = [part for layer in self.layers for part in (layer.qkv, layer.output, layer.gate_up, layer.down)]
        tied = self.projection is self.embedding
        return sum(part.nbytes for part in [*matrices, self.embedding, *([] if tied else [self.projection])])


def load_network(
    tensors: Tensors, config: ModelConfig, device: torch.device, dtype: torch.dtype, positions: int
) -> Network:
    """The weights on `device` as `dtype` (bfloat16 or float32), and rotations of that many positions.

    Errors: `ModelError` `model_invalid` when a tensor is missing or misshapen.
    """

    def matrix(*parts: Stored) -> Tensor:
        return torch.cat([_tensor(part, dtype).to(device) for part in parts])

    def gains(name: str) -> Tensor:
        return torch.from_numpy(tensors.norm(name).copy()).to(device)

    def bias(*names: str) -> Tensor | None:
        found = [tensors.bias(name) for name in names]
        present = [part for part in found if part is not None]
        return torch.from_numpy(np.concatenate(present)).to(device, dtype) if present else None

    def layer(index: int) -> Layer:
        name = f"model.layers.{index}"
        attention = [f"{name}.self_attn.{part}_proj" for part in "qkv"]
        has_norms = config.model_type == "qwen3"
        return Layer(
            input_gains=gains(f"{name}.input_layernorm"),
            qkv=matrix(*map(tensors.linear, attention)),
            qkv_bias=bias(*attention),
            query_gains=gains(f"{name}.self_attn.q_norm") if has_norms else None,
            key_gains=gains(f"{name}.self_attn.k_norm") if has_norms else None,
            output=matrix(tensors.linear(f"{name}.self_attn.o_proj")),
            output_bias=bias(f"{name}.self_attn.o_proj"),
            attention_gains=gains(f"{name}.post_attention_layernorm"),
            gate_up=matrix(*(tensors.linear(f"{name}.mlp.{part}_proj") for part in ("gate", "up"))),
            down=matrix(tensors.linear(f"{name}.mlp.down_proj")),
        )

    embedding = matrix(tensors.embedding())
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * torch.from_numpy(inverse_frequencies(config))
    network = Network(
        config=config,
        embedding=embedding,
        layers=tuple(layer(index) for index in range(config.num_hidden_layers)),
        gains=gains("model.norm"),
        projection=embedding if config.tie_word_embeddings else matrix(tensors.projection()),
        cosine=angles.cos().to(device),
        sine=angles.sin().to(device),
    )
    tensors.check_all_picked()
    return network


def _tensor(stored: Stored, dtype: torch.dtype) -> Tensor:
    if dtype == torch.bfloat16:
        bits = np.require(stored.bf16(), requirements=["C", "W"])
        return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.require(stored.float32(), requirements=["C", "W"])).to(dtype)
