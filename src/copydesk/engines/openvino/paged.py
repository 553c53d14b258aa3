"""The network over a paged KV cache: any number of sequences packed into one call, shared prefixes, exact cutting back.

Needs OpenVINO's PagedAttention kernels; `selftest.py` says whether they work here. Knows nothing of logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.blocks import BLOCK_SIZE, BlockTable
from copydesk.engines.openvino.backbone import Segment
from copydesk.engines.openvino.runtime import Setting, compile_model, infer, ov, to_paged
from copydesk.errors import EngineError, UsageError
from copydesk.models.config import ModelConfig

_PADDING_BLOCK = 0
_FEWEST_BLOCKS = 16
"""Enough for the self-test."""
_STEPS = ((8, 1), (64, 4), (128, 8), (256, 16))
"""Up to how many tokens a call is filled up to a multiple of what."""
_CACHE_TYPES: dict[str, type[np.generic]] = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}


class PagedBackbone:
    """`Backbone` over blocks of 32 tokens in one array `[2 * layers, blocks, kv_heads, 32, head_dim]`.

    The array is `cache_bytes` large at most, but the system commits its memory only as blocks come into use.
    """

    def __init__(self, model: Any, config: ModelConfig, setting: Setting, threads: int, cache_bytes: int) -> None:
        """Takes `model` (of `graph.build_backbone`) over and changes it.

        Errors: `EngineError` where attention cannot be paged; `UsageError` when `cache_bytes` are too few.
        """
        to_paged(model)
        compiled = compile_model(model, setting, threads)
        dtype = _CACHE_TYPES[setting.cache]
        block = (config.num_key_value_heads, BLOCK_SIZE, config.head_dim)
        layers = 2 * config.num_hidden_layers
        self._cache = _allocate(layers, block, dtype, cache_bytes)
        blocks = self._cache.shape[1]
        self.capacity = (blocks - 1) * BLOCK_SIZE
        self._table = BlockTable(blocks, reserved=_PADDING_BLOCK + 1)
        self._request = compiled.create_infer_request()
        self._bind_cache(compiled, setting.cache)
        # Shared with the request, so they must live as long as it reads them.
        self._inputs: dict[str, NDArray[Any]] = {}

    def open(self) -> int:
        return self._table.open()

    def fork(self, sequence: int) -> int:
        return self._table.fork(sequence)

    def length(self, sequence: int) -> int:
        return self._table.length(sequence)

    def cut(self, sequence: int, length: int) -> None:
        self._table.cut(sequence, length)

    def release(self, sequence: int) -> None:
        self._table.release(sequence)

    def close(self) -> None:
        self._request = None
        self._cache = np.empty((0, 0, 0, 0, 0), np.float32)

    def read(self, segments: Sequence[Segment]) -> NDArray[np.float32]:
        before = [self._table.length(segment.sequence) for segment in segments]
        copies = self._table.extend((segment.sequence, len(segment.tokens)) for segment in segments)
        try:
            for shared, own in copies:
                self._cache[:, own] = self._cache[:, shared]
            self._set_inputs(segments, before)
            infer(self._request)
        except BaseException:
            for segment, length in zip(segments, before, strict=True):
                self._table.cut(segment.sequence, length)
            raise
        wanted = sum(len(segment.wanted) for segment in segments)
        return np.array(self._request.get_output_tensor(0).data[:wanted])

    def _set_inputs(self, segments: Sequence[Segment], before: Sequence[int]) -> None:
        counts = [len(segment.tokens) for segment in segments]
        tokens = sum(counts)
        padding = padded(tokens) - tokens
        past, blocks = list(before), [self._table.blocks(segment.sequence) for segment in segments]
        ids = [token for segment in segments for token in segment.tokens]
        positions = list(chain.from_iterable(range(old, old + new) for old, new in zip(before, counts, strict=True)))
        if padding:
            ids += [0] * padding
            positions += range(padding)
            past.append(0)
            counts.append(padding)
            blocks.append([_PADDING_BLOCK])
        begins = list(accumulate(counts, initial=0))
        wanted = [begin + index for begin, segment in zip(begins, segments, strict=False) for index in segment.wanted]
        self._set("input_ids", ids, np.int64)
        self._set("position_ids", positions, np.int64)
        self._set("past_lens", past, np.int32)
        self._set("subsequence_begins", begins, np.int32)
        self._set("block_indices", list(chain.from_iterable(blocks)), np.int32)
        self._set("block_indices_begins", list(accumulate(map(len, blocks), initial=0)), np.int32)
        self._set("max_context_len", max(old + new for old, new in zip(past, counts, strict=True)), np.int32)
        # A row that nobody asked for is cheaper than an empty gather is risky.
        self._set("wanted", wanted or [0], np.int32)

    def _set(self, name: str, values: int | list[int], dtype: type[np.generic]) -> None:
        array = np.array(values, dtype)
        self._inputs[name] = array
        self._request.set_tensor(name, ov.Tensor(array, shared_memory=True))

    def _bind_cache(self, compiled: Any, cache_type: str) -> None:
        """Give the request the views of the cache that its layers read and write."""
        half = len(self._cache) // 2
        expected = list(self._cache.shape[2:])
        for layer, array in enumerate(self._cache):
            name = f"key_cache.{layer}" if layer < half else f"value_cache.{layer - half}"
            port = compiled.input(name)
            found = [dimension.get_length() for dimension in list(port.partial_shape)[1:]]
            if found != expected or port.element_type.get_type_name() != cache_type:
                raise EngineError(f"OpenVINO wants {name} as {port.element_type.get_type_name()} {found} here")
            self._request.set_tensor(name, ov.Tensor(array, list(array.shape), port.element_type))


def padded(tokens: int) -> int:
    """How many tokens a call is filled up to.

    OpenVINO spends milliseconds on every token count that it has not met; so there are few of them.
    """
    step = next((step for limit, step in _STEPS if tokens <= limit), BLOCK_SIZE)
    return -(-tokens // step) * step


def _allocate(layers: int, block: tuple[int, ...], dtype: type[np.generic], cache_bytes: int) -> NDArray[Any]:
    """An array of as many blocks as fit in `cache_bytes`, or of fewer where the system has less memory to promise."""
    block_bytes = layers * int(np.prod(block)) * np.dtype(dtype).itemsize
    blocks = cache_bytes // block_bytes
    if blocks < _FEWEST_BLOCKS:
        raise UsageError(
            f"cache_bytes must be at least {_FEWEST_BLOCKS * block_bytes} for this model, got {cache_bytes}"
        )
    while True:
        try:
            return np.empty((layers, blocks, *block), dtype)
        except MemoryError:
            if blocks < 2 * _FEWEST_BLOCKS:
                raise
            blocks //= 2
