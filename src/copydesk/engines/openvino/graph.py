"""The network as OpenVINO graphs, built straight from a folder's weights: one up to the last norm, one for the head.

Qwen3 and Llama. Knows nothing of how the graphs are compiled or run. The first graph keeps its KV cache as state; in
this form OpenVINO can run it as it is or turn it into one over a paged cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copydesk.engines.openvino.compression import GROUP, Bits, Matrix, compress
from copydesk.engines.openvino.runtime import ops, ov
from copydesk.engines.rotary import inverse_frequencies
from copydesk.engines.tensors import Tensors
from copydesk.models.config import ModelConfig


def build_backbone(tensors: Tensors, config: ModelConfig, embedding: Matrix, bits: Bits) -> Any:
    """The graph from tokens to normalised hidden states.

    Inputs: `input_ids`, `position_ids` `[batch, tokens]`, `attention_mask` `[batch, past + tokens]` (only its length
    counts), `beam_idx` `[batch]`, and `wanted`, int32: which tokens' states to give, as indices into all of the batch.
    Output: float32 `[wanted, hidden_size]`. Errors: `ModelError` `model_invalid` when a tensor is missing or misshapen.
    """
    return _Backbone(tensors, config, bits).build(embedding)


def build_head(matrix: Matrix) -> Any:
    """The graph from hidden states `[rows, hidden_size]` to logits `[rows, vocab_size]` and normalizers `[rows]`.

    All are float32. A normalizer is the natural logarithm of the sum of the exponentials of its row.
    """
    hidden = ops.parameter([-1, matrix.columns], np.float32, name="hidden")
    logits = ops.matmul(hidden, _float_matrix(matrix), False, True)
    highest = ops.reduce_max(logits, _i64([1]), True)
    total = ops.reduce_sum(ops.exp(ops.subtract(logits, highest)), _i64([1]), False)
    normalizers = ops.add(ops.squeeze(highest, _i64([1])), ops.log(total))
    return ov.Model([ops.result(logits), ops.result(normalizers)], [hidden], "head")


class _Backbone:
    def __init__(self, tensors: Tensors, config: ModelConfig, bits: Bits) -> None:
        self._tensors, self._config, self._bits = tensors, config, bits
        self._assigns: list[Any] = []

    def build(self, embedding: Matrix) -> Any:
        config = self._config
        # The transform to a paged cache looks for exactly these names.
        ids = _parameter("input_ids", [-1, -1], np.int64)
        positions = _parameter("position_ids", [-1, -1], np.int64)
        mask = _parameter("attention_mask", [-1, -1], np.int64)
        self._beam = _parameter("beam_idx", [-1], np.int32)
        wanted = _parameter("wanted", [-1], np.int32)
        self._cosine, self._sine = self._rotation(positions)
        self._mask = _causal_mask(ids, mask)
        self._batch = ops.gather(ops.shape_of(ids), _i64([0]), _i64(0))
        hidden = _embed(embedding, ids)
        for layer in range(config.num_hidden_layers):
            hidden = self._layer(hidden, f"model.layers.{layer}")
        rows = ops.gather(ops.reshape(hidden, _i64([-1, config.hidden_size]), False), wanted, _i64(0))
        result = ops.result(self._norm(rows, "model.norm"))
        return ov.Model([result], self._assigns, [ids, positions, mask, self._beam, wanted], "backbone")

    def _layer(self, hidden: Any, name: str) -> Any:
        states = self._norm(hidden, f"{name}.input_layernorm")
        hidden = ops.add(hidden, self._attention(states, f"{name}.self_attn"))
        states = self._norm(hidden, f"{name}.post_attention_layernorm")
        gate = ops.swish(self._linear(states, f"{name}.mlp.gate_proj"))
        gated = ops.multiply(gate, self._linear(states, f"{name}.mlp.up_proj"))
        return ops.add(hidden, self._linear(gated, f"{name}.mlp.down_proj"))

    def _attention(self, states: Any, name: str) -> Any:
        config = self._config
        query = self._heads(states, f"{name}.q_proj", config.num_attention_heads, f"{name}.q_norm")
        key = self._heads(states, f"{name}.k_proj", config.num_key_value_heads, f"{name}.k_norm")
        value = self._heads(states, f"{name}.v_proj", config.num_key_value_heads)
        key = self._with_past(self._rotate(key), f"{name}.key")
        value = self._with_past(value, f"{name}.value")
        attended = ops.scaled_dot_product_attention(
            self._rotate(query), self._for_each_query_head(key), self._for_each_query_head(value), self._mask
        )
        joined = ops.reshape(
            _swap_heads_and_tokens(attended), _i64([0, 0, config.num_attention_heads * config.head_dim]), True
        )
        return self._linear(joined, f"{name}.o_proj")

    def _heads(self, states: Any, name: str, heads: int, norm: str | None = None) -> Any:
        """A projection as `[batch, heads, tokens, head_dim]`, each head normalised where the model does so."""
        projected = ops.reshape(self._linear(states, name), _i64([0, 0, heads, self._config.head_dim]), True)
        if norm is not None and self._config.model_type == "qwen3":
            projected = self._norm(projected, norm)
        return _swap_heads_and_tokens(projected)

    def _with_past(self, tokens: Any, name: str) -> Any:
        """The keys or values of all tokens so far, `[batch, kv_heads, past + tokens, head_dim]`."""
        heads, size = self._config.num_key_value_heads, self._config.head_dim
        info = ov.op.util.VariableInfo()
        info.data_shape, info.data_type, info.variable_id = ov.PartialShape([-1, heads, -1, size]), ov.Type.f32, name
        variable = ov.op.util.Variable(info)
        none = ops.broadcast(_f32(0), ops.concat([self._batch, _i64([heads, 0, size])], 0))
        past = ops.gather(ops.read_value(none, variable), self._beam, _i64(0))
        full = ops.concat([past, tokens], 2)
        self._assigns.append(ops.assign(full, variable))
        return full

    def _for_each_query_head(self, states: Any) -> Any:
        """Keys or values repeated for the query heads that share them."""
        config = self._config
        group = config.num_attention_heads // config.num_key_value_heads
        if group == 1:
            return states
        spread = ops.unsqueeze(states, _i64(2))
        shape = ops.shape_of(spread)
        around = [ops.gather(shape, _i64(part), _i64(0)) for part in ([0, 1], [3, 4])]
        repeated = ops.broadcast(spread, ops.concat([around[0], _i64([group]), around[1]], 0), "BIDIRECTIONAL")
        return ops.reshape(repeated, _i64([0, config.num_attention_heads, -1, config.head_dim]), True)

    def _rotation(self, positions: Any) -> tuple[Any, Any]:
        """Cosines and sines of each position, `[batch, 1, tokens, head_dim]`."""
        frequencies = ops.constant(inverse_frequencies(self._config).reshape(1, 1, -1))
        half = ops.multiply(ops.convert(ops.unsqueeze(positions, _i64(2)), "f32"), frequencies)
        angles = ops.concat([half, half], 2)
        return ops.unsqueeze(ops.cos(angles), _i64(1)), ops.unsqueeze(ops.sin(angles), _i64(1))

    def _rotate(self, states: Any) -> Any:
        # In this very form (split, negative axis) OpenVINO fuses the rotation into one kernel.
        half = self._config.head_dim // 2
        first, second = ops.variadic_split(states, _i64(3), _i64([half, half])).outputs()
        turned = ops.concat([ops.multiply(second, _f32(-1)), first], -1)
        return ops.add(ops.multiply(states, self._cosine), ops.multiply(turned, self._sine))

    def _norm(self, states: Any, name: str) -> Any:
        mean = ops.reduce_mean(ops.power(states, _f32(2)), _i64([-1]), True)
        inverse = ops.divide(_f32(1), ops.sqrt(ops.add(mean, _f32(self._config.rms_norm_eps))))
        return ops.multiply(ops.multiply(states, inverse), ops.constant(self._tensors.norm(name)))

    def _linear(self, states: Any, name: str) -> Any:
        matrix = compress(self._tensors.linear(name), self._bits)
        product = ops.matmul(states, _float_matrix(matrix), False, True)
        bias = self._tensors.bias(name)
        return product if bias is None else ops.add(product, ops.constant(bias))


def _embed(matrix: Matrix, ids: Any) -> Any:
    """Float32 rows of the embedding. Only the rows asked for are de-quantised."""
    rows = ops.convert(ops.gather(_stored(matrix), ids, _i64(0)), "f32")
    if matrix.scale is None:
        return rows
    return ops.multiply(rows, ops.gather(ops.constant(matrix.scale), ids, _i64(0)))


def _float_matrix(matrix: Matrix) -> Any:
    """A matrix de-quantised in the graph: OpenVINO keeps it compressed and multiplies with it as it is."""
    stored = _stored(matrix)
    if matrix.scale is None:
        return stored if matrix.kind == "f32" else ops.convert(stored, "f32")
    values = ops.convert(stored, "f32")
    if matrix.zero is None:
        return ops.multiply(values, ops.constant(matrix.scale))
    zero = _packed_4_bits(matrix.zero)
    scaled = ops.multiply(ops.subtract(values, ops.convert(zero, "f32")), ops.constant(matrix.scale))
    return ops.reshape(scaled, _i64([matrix.stored.shape[0], matrix.columns]), False)


def _stored(matrix: Matrix) -> Any:
    shape = matrix.stored.shape
    return _constant(matrix.kind, [*shape[:-1], GROUP] if matrix.kind == "u4" else list(shape), matrix.stored)


def _packed_4_bits(codes: NDArray[np.uint8]) -> Any:
    flat = codes.reshape(-1)
    flat = np.append(flat, np.uint8(0)) if len(flat) % 2 else flat
    return _constant("u4", list(codes.shape), flat[0::2] | (flat[1::2] << 4))


def _constant(kind: str, shape: list[int], content: NDArray[Any]) -> Any:
    """A constant in memory that OpenVINO owns: what it shares with NumPy it does not keep alive."""
    tensor = ov.Tensor(getattr(ov.Type, kind), ov.Shape(shape))
    tensor.data.reshape(-1).view(np.uint8)[:] = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
    return ops.constant(tensor)


def _causal_mask(ids: Any, mask: Any) -> Any:
    """0 where a token may look, minus infinity elsewhere: `[1, 1, tokens, past + tokens]`."""
    total = ops.gather(ops.shape_of(mask), _i64(1), _i64(0))
    tokens = ops.gather(ops.shape_of(ids), _i64(1), _i64(0))
    keys = ops.range(_i64(0), total, _i64(1), "i64")
    queries = ops.range(ops.subtract(total, tokens), total, _i64(1), "i64")
    visible = ops.less_equal(ops.unsqueeze(keys, _i64(0)), ops.unsqueeze(queries, _i64(1)))
    return ops.select(ops.unsqueeze(visible, _i64([0, 1])), _f32(0), _f32(-np.inf))


def _swap_heads_and_tokens(states: Any) -> Any:
    return ops.transpose(states, _i64([0, 2, 1, 3]))


def _parameter(name: str, shape: list[int], dtype: Any) -> Any:
    parameter = ops.parameter(shape, dtype, name=name)
    parameter.output(0).set_names({name})
    return parameter


def _i64(value: ArrayLike) -> Any:
    return ops.constant(np.array(value, np.int64))


def _f32(value: float) -> Any:
    return ops.constant(np.array(value, np.float32))
