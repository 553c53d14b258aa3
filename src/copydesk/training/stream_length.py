"""How long a Qwen3 network's residual stream can get, whatever it reads: a bound from its weights alone.

Far above what is met in practice (a few hundred times), but certain. Plain NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from copydesk.models.config import ModelConfig
from copydesk.models.weights import Tensor


def longest_stream(weights: Mapping[str, Tensor], config: ModelConfig) -> float:
    """A length that the stream, before the final norm, never exceeds.

    A normalised state is at most `sqrt(hidden_size)` long before its gains. Each head's values are bounded by
    themselves, since heads may look at different tokens; each neuron's gate too, since `|silu(x)| <= |x|`.
    """
    hidden, kv_heads = config.hidden_size, config.num_key_value_heads

    def values(name: str) -> NDArray[np.float64]:
        return weights[f"{name}.weight"].float32().astype(np.float64)

    lengths = [np.linalg.norm(values("model.embed_tokens"), axis=1).max()]
    for layer in range(config.num_hidden_layers):
        name = f"model.layers.{layer}"
        value = values(f"{name}.self_attn.v_proj") * values(f"{name}.input_layernorm")
        of_heads = np.linalg.norm(value.reshape(kv_heads, -1, hidden), 2, axis=(1, 2))
        attended = np.linalg.norm(of_heads) * math.sqrt(config.num_attention_heads / kv_heads * hidden)
        lengths.append(np.linalg.norm(values(f"{name}.self_attn.o_proj"), 2) * attended)
        gains = values(f"{name}.post_attention_layernorm")
        gates = np.linalg.norm(values(f"{name}.mlp.gate_proj") * gains, axis=1)
        up = np.linalg.norm(values(f"{name}.mlp.up_proj") * gains, 2)
        lengths.append(np.linalg.norm(values(f"{name}.mlp.down_proj") * gates, 2) * up * hidden)
    return float(sum(lengths))
