"""The tensors of a larger network that computes the same function as a smaller one: timings with meaningful answers.

Let `d` and `D` be the two hidden sizes, `s = sqrt(D / d)`, and `a` a power of two, at least `s * sqrt(2)`. The source's
stream `h` becomes `x = (a h, 0, ..., 0, c)`: embedding, `o_proj` and `down_proj` are multiplied by `a`, and the last
dimension holds a constant that nothing writes to. A norm divides `x` by the root of `(a² |h|² + c²) / D + epsilon`.
With `c² = (a² d - D) epsilon` that is, for every `h`, exactly `a / s` times the root that the source divides `h` by; so
the gains times `1 / s` give the same normalised states. (`a = s` would leave no room for a constant, and multiply the
matrices by an irrational number.) Norms of heads are as they were: heads keep their size.

Nothing comes out of the rest. Layers read the constant with a gain of 0; the dimensions before it are 0. What extra
heads and neurons compute meets zeros in `o_proj` and `down_proj`; in extra layers these are zero but for one column,
that of a channel or neuron which is always 0. Everything else is random. The head alone sees the constant: rows of
unused tokens hold a large negative weight there, enough for every input, by a bound on how long the stream can get.

What is exact. In float64 all of it, to 1e-14 relative, logarithms of sums of exponentials included. In bfloat16 every
matrix of a source in the 8-bit format, `a` being a power of two; rounded are only the gains times `1 / s` (to 8 bits)
and `c`, which moves epsilon by less than 1 %. In 8 bits a row, scaled by its largest value, the matrices are still
exact: each row has a weight of exactly 127 steps, where nothing is read. Only the embedding has no room for that and is
rounded once more.

Plain NumPy; knows no files and no tokenizer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import LARGEST, Tensor, quantize_rows
from copydesk.training.stream_length import longest_stream

Array = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]

_MARGIN = 100.0
"""How far at least, in nats, every unused token stays below every used one: then a float64 sum does not notice it."""
_PUSH = -(2.0**15)
"""Weight of the constant in the rows of unused tokens: as much as float16 and its relatives can hold."""
_RANDOM = 63
"""Random weights are up to this many of their row's steps."""


class WideWeights:
    """Names and tensors of the wide network, made one after the other while iterating; the same each time."""

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        source: ModelConfig,
        target: ModelConfig,
        ids: Indices,
        *,
        seed: int = 0,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        """`weights` of the network `source` into the shape of `target`; `ids`: the new id of each of its tokens.

        `seed` sets the random weights. `dtype` is that of the arrays; float32 rounds gains and the constant.
        Errors: `UsageError` for a `target` without room or with another kind of arithmetic.
        """
        _refuse_unfit(source, target)
        self._heads = heads(source, target)
        if len(ids) != source.vocab_size:
            raise UsageError(f"{source.name} has {source.vocab_size} rows for {len(ids)} tokens; widen another model")
        self._weights, self._source, self._target, self._ids = weights, source, target, ids
        self._seed, self._dtype = seed, dtype
        self._random = np.random.default_rng(seed)
        hidden, wide = source.hidden_size, target.hidden_size
        self._shrink = math.sqrt(hidden / wide)
        self.factor = 2.0 ** math.ceil(math.log2(wide / hidden) / 2 + 0.5)
        """`a`, what the stream is multiplied by."""
        self.constant = math.sqrt((self.factor**2 * hidden - wide) * source.rms_norm_eps)
        """`c`, the last dimension of the stream."""
        largest = self.factor * float(np.abs(self._matrix("model.embed_tokens")).max())
        if self.constant < largest / LARGEST:
            raise UsageError(
                f"{source.name}'s embedding holds {largest / self.factor:.2g}, beside which 8 bits would lose the "
                "constant that keeps unused tokens down; widen a model with smaller weights"
            )

    def __iter__(self) -> Iterator[tuple[str, Array]]:
        """In the order of a checkpoint; matrices `[outputs, inputs]`, gains `[features]`."""
        self._random = np.random.default_rng(self._seed)
        yield "model.embed_tokens.weight", self._embedding()
        for layer in range(self._target.num_hidden_layers):
            for name, values in self._layer(layer):
                yield f"model.layers.{layer}.{name}.weight", values
        yield "model.norm.weight", self._gains("model.norm", self._constant_gain())
        yield "lm_head.weight", self._head()

    def _layer(self, layer: int) -> Iterator[tuple[str, Array]]:
        source, target = self._source, self._target
        # Extra layers are random, in steps and with gains like those of the source's layers.
        model = f"model.layers.{layer % source.num_hidden_layers}"
        queries, keys = self._heads
        neurons = np.full(target.intermediate_size, -1)
        neurons[: source.intermediate_size] = np.arange(source.intermediate_size)
        if layer >= source.num_hidden_layers:
            queries, keys, neurons = (np.full_like(origin, -1) for origin in (queries, keys, neurons))
        queries, keys = (_channels(origin, source.head_dim) for origin in (queries, keys))
        yield "input_layernorm", self._gains(f"{model}.input_layernorm", 0)
        yield "self_attn.q_proj", self._reader(f"{model}.self_attn.q_proj", queries)
        yield "self_attn.k_proj", self._reader(f"{model}.self_attn.k_proj", keys)
        yield "self_attn.v_proj", self._silenced(self._reader(f"{model}.self_attn.v_proj", keys))
        yield "self_attn.o_proj", self._writer(f"{model}.self_attn.o_proj", queries)
        for name in ("self_attn.q_norm", "self_attn.k_norm"):
            yield name, self._vector(f"{model}.{name}").astype(self._dtype)
        yield "post_attention_layernorm", self._gains(f"{model}.post_attention_layernorm", 0)
        yield "mlp.gate_proj", self._reader(f"{model}.mlp.gate_proj", neurons)
        yield "mlp.up_proj", self._silenced(self._reader(f"{model}.mlp.up_proj", neurons))
        yield "mlp.down_proj", self._writer(f"{model}.mlp.down_proj", neurons)

    def _reader(self, name: str, origins: Indices) -> Array:
        """A matrix that reads the stream, a row for each of `origins`: that row of the source's, or -1 a random one."""
        values, own = self._matrix(name), origins >= 0
        steps = _steps(values)
        wide = self._filled(np.where(own, steps[origins], self._random.choice(steps, len(origins))))
        wide[own, : self._source.hidden_size] = values[origins[own]]
        return wide

    def _silenced(self, matrix: Array) -> Array:
        """Its last output, which is an extra one, is always 0: it reads only what is 0."""
        matrix[-1, : self._source.hidden_size] = 0
        return matrix

    def _writer(self, name: str, origins: Indices) -> Array:
        """A matrix that writes to the stream, a column for each of `origins`: one of the source's, -1 zeros.

        The last column, whose input is always 0, fills every row's range; so no row is zero throughout either.
        """
        values, own = self._matrix(name), origins >= 0
        hidden, wide_hidden = self._source.hidden_size, self._target.hidden_size
        steps = _steps(values)
        wide = np.zeros((wide_hidden, len(origins)), self._dtype)
        wide[:hidden, own] = values[:, origins[own]]
        wide[:, -1] = LARGEST * np.append(steps, self._random.choice(steps, wide_hidden - hidden))
        wide *= self.factor
        return wide

    def _embedding(self) -> Array:
        values = self._matrix("model.embed_tokens")
        hidden, unused = self._source.hidden_size, self._unused()
        wide = np.zeros((self._target.vocab_size, self._target.hidden_size), self._dtype)
        wide[self._ids, :hidden] = values
        wide[unused, :hidden] = self._weights_of(self._random.choice(_steps(values), len(unused)), hidden)
        wide *= self.factor
        wide[:, -1] = self.constant
        return wide

    def _head(self) -> Array:
        values = self._projection()
        steps = _steps(values)
        of_rows = self._random.choice(steps, self._target.vocab_size)
        of_rows[self._ids] = steps
        wide = self._filled(of_rows)
        wide[:, : self._source.hidden_size] = 0
        wide[self._ids, : self._source.hidden_size] = values
        wide[:, -1] = _PUSH
        wide[self._ids, -1] = 0
        return wide

    def _filled(self, steps: Array) -> Array:
        """Random rows over the hidden dimensions; the last but one, which is always 0, fills each row's range."""
        wide = self._weights_of(steps, self._target.hidden_size)
        wide[:, -2] = LARGEST * steps
        return wide

    def _weights_of(self, steps: Array, columns: int) -> Array:
        """Random weights, each a whole number of its row's steps."""
        codes = self._random.integers(-_RANDOM, _RANDOM, (len(steps), columns), np.int8, endpoint=True)
        values = codes.astype(self._dtype)
        values *= steps[:, None]
        return values

    def _gains(self, name: str, constant: float) -> Array:
        """Of a norm of the stream; `constant` is that of the last dimension."""
        gains = self._vector(name) * self._shrink
        more = self._random.choice(gains, self._target.hidden_size - len(gains))
        more[-1] = constant
        return np.append(gains, more).astype(self._dtype)

    def _constant_gain(self) -> float:
        """The final norm's gain for the constant: a power of two with which unused tokens stay down for every input."""
        source = self._source
        rows = self._projection() * self._vector("model.norm")
        largest_logit = np.linalg.norm(rows, axis=1).max() * math.sqrt(source.hidden_size)
        stream = (self.factor * longest_stream(self._weights, source)) ** 2 + self.constant**2
        # Rounding the embedding to 8 bits may halve the constant.
        least = self.constant / 2 / math.sqrt(stream / self._target.hidden_size + source.rms_norm_eps)
        return float(2.0 ** math.ceil(math.log2((2 * largest_logit + _MARGIN) / (least * -_PUSH))))

    def _unused(self) -> Indices:
        return np.setdiff1d(np.arange(self._target.vocab_size), self._ids)

    def _projection(self) -> NDArray[np.float32]:
        return self._matrix("model.embed_tokens" if self._source.tie_word_embeddings else "lm_head")

    def _vector(self, name: str) -> NDArray[np.float64]:
        return self._matrix(name).astype(np.float64)

    def _matrix(self, name: str) -> NDArray[np.float32]:
        try:
            return self._weights[f"{name}.weight"].float32()
        except KeyError as error:
            raise ModelError(f"{self._source.name} lacks {name}; fetch it again", code="model_invalid") from error


def heads(source: ModelConfig, target: ModelConfig) -> tuple[Indices, Indices]:
    """For each query head and each KV head of `target`, the head of `source` that stands there; -1 for extra ones.

    A query head stands where its KV head serves it. Where fewer query heads share a KV head than before, the KV head
    stands there several times. Errors: `UsageError` when not all find a place with one KV head to spare.
    """
    group = source.num_attention_heads // source.num_key_value_heads
    wide_group = target.num_attention_heads // target.num_key_value_heads
    copies = -(-group // wide_group)
    if source.num_key_value_heads * copies >= target.num_key_value_heads:
        raise UsageError(
            f"{source.name} needs {source.num_key_value_heads * copies} KV heads and one to spare, but the wide shape "
            f"has {target.num_key_value_heads}; take a larger one"
        )
    queries, keys = np.full(target.num_attention_heads, -1), np.full(target.num_key_value_heads, -1)
    for head in range(source.num_attention_heads):
        key, place = divmod(head, group)
        wide_key = key * copies + place // wide_group
        keys[wide_key] = key
        queries[wide_key * wide_group + place % wide_group] = head
    return queries, keys


def _channels(origins: Indices, head_dim: int) -> Indices:
    """The origins of all channels of heads."""
    spread = origins[:, None] * head_dim + np.arange(head_dim)
    return np.where(origins[:, None] < 0, -1, spread).reshape(-1)


def _steps(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The step between the values of each row in the 8-bit format: a power of two."""
    return np.ldexp(np.float32(1), quantize_rows(values)[1].astype(np.int32))


def _refuse_unfit(source: ModelConfig, target: ModelConfig) -> None:
    for config in (source, target):
        if config.model_type != "qwen3" or config.attention_bias:
            raise UsageError(f"{config.name} is no Qwen3 model without biases; only those can be widened")
    for setting in ("head_dim", "rope_theta", "rope_scaling"):
        if getattr(source, setting) != getattr(target, setting):
            raise UsageError(f"{source.name} and the wide shape differ in {setting}; it must be the same")
    needed = {
        "hidden_size": source.hidden_size + 2,
        "intermediate_size": source.intermediate_size + 1,
        "num_hidden_layers": source.num_hidden_layers,
    }
    for setting, least in needed.items():
        if getattr(target, setting) < least:
            raise UsageError(f"{source.name} needs a wide shape with {setting} of at least {least}")
