"""The network from tokens to normalised hidden states, Qwen3 and Llama: one readable pass over the layers.

What is multiplied where stands here; how, in `kernels` or, without a GPU, in `reference`. Knows nothing of graphs,
sequences or scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from torch import Tensor

from copydesk.engines.cuda.cache import Cache
from copydesk.engines.cuda.shapes import Heads
from copydesk.engines.cuda.weights import Network


def forward(network: Network, cache: Cache, batch: Mapping[str, Tensor], tile: int, operations: ModuleType) -> Tensor:
    """Hidden states after the last norm, `[wanted, hidden_size]`; keys and values go into the cache.

    `batch` holds the sections of a layout on the device.
    """
    config, heads = network.config, Heads.of(network.config)
    eps = config.rms_norm_eps
    tables = batch["tables"]
    residual, states = operations.embed(batch["tokens"], network.embedding, network.layers[0].input_gains, eps)
    for index, layer in enumerate(network.layers):
        keys, values = cache.keys[index], cache.values[index]
        query = operations.rotate_and_store(
            operations.linear(states, layer.qkv, layer.qkv_bias),
            batch["positions"],
            batch["rows"],
            tables,
            network.cosine,
            network.sine,
            layer.query_gains,
            layer.key_gains,
            eps,
            keys,
            values,
            heads,
        )
        attended = operations.attend(
            query,
            keys,
            values,
            batch["tile_starts"],
            batch["tile_counts"],
            batch["tile_positions"],
            batch["tile_rows"],
            tables,
            heads,
            tile,
        )
        update = operations.linear(attended, layer.output, layer.output_bias)
        states = operations.add_norm(residual, update, layer.attention_gains, eps)
        update = operations.linear(operations.gate(operations.linear(states, layer.gate_up)), layer.down)
        if index + 1 < len(network.layers):
            states = operations.add_norm(residual, update, network.layers[index + 1].input_gains, eps)
    hidden: Tensor = operations.gather_add_norm(residual, update, batch["wanted"], network.gains, eps)
    return hidden


def forward_one(network: Network, cache: Cache, batch: Mapping[str, Tensor]) -> Tensor:
    """As `forward` for a single token that is wanted, on a GPU: `[1, hidden_size]`."""
    from copydesk.engines.cuda import kernels, single

    config, heads = network.config, Heads.of(network.config)
    eps, early = config.rms_norm_eps, single.has_early_launch()
    residual, _ = kernels.embed(batch["tokens"], network.embedding, network.layers[0].input_gains, eps)
    for index, layer in enumerate(network.layers):
        attended = single.attend(
            single.norm_linear(residual, layer.input_gains, layer.qkv, layer.qkv_bias, eps, early=early),
            batch["positions"],
            batch["rows"],
            batch["tables"],
            network.cosine,
            network.sine,
            layer.query_gains,
            layer.key_gains,
            eps,
            cache.keys[index],
            cache.values[index],
            heads,
            early=early,
        )
        single.linear_add(attended, layer.output, layer.output_bias, residual, early=early, tiling=single.OUTPUT)
        gated = single.norm_gate(residual, layer.attention_gains, layer.gate_up, eps, early=early)
        single.linear_add(gated, layer.down, None, residual, early=early)
    return kernels.norm(residual, network.gains, eps, network.embedding.dtype)
