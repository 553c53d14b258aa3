"""The network with its KV cache as plain state, one request a sequence: for machines without paged attention.

Exact like the paged one, but a call reads its sequences one after the other, and a fork copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.openvino.backbone import Segment
from copydesk.engines.openvino.runtime import Setting, compile_model, infer, ov
from copydesk.models.config import ModelConfig


class StatefulBackbone:
    """`Backbone` that keeps each sequence in an infer request of its own."""

    def __init__(self, model: Any, config: ModelConfig, setting: Setting, threads: int) -> None:
        """Errors: `EngineError`."""
        self._compiled = compile_model(model, setting, threads)
        self.capacity = config.max_position_embeddings
        self._hidden_size = config.hidden_size
        self._requests: dict[int, Any] = {}
        self._lengths: dict[int, int] = {}
        self._next = 0

    def open(self) -> int:
        handle = self._next
        self._next += 1
        self._requests[handle] = self._compiled.create_infer_request()
        self._lengths[handle] = 0
        return handle

    def fork(self, sequence: int) -> int:
        length = self._lengths[sequence]
        handle = self.open()
        if length:
            self._restore(handle, self._states(sequence, length))
        self._lengths[handle] = length
        return handle

    def length(self, sequence: int) -> int:
        return self._lengths[sequence]

    def read(self, segments: Sequence[Segment]) -> NDArray[np.float32]:
        before = [self._lengths[segment.sequence] for segment in segments]
        rows = [np.empty((0, self._hidden_size), np.float32)]
        try:
            rows += [self._read_one(segment) for segment in segments]
        except BaseException:
            for segment, length in zip(segments, before, strict=True):
                self.cut(segment.sequence, length)
            raise
        return np.concatenate(rows)

    def cut(self, sequence: int, length: int) -> None:
        if length == self._lengths[sequence]:
            return
        if length == 0:
            self._requests[sequence].reset_state()
        else:
            self._restore(sequence, self._states(sequence, length))
        self._lengths[sequence] = length

    def release(self, sequence: int) -> None:
        del self._requests[sequence], self._lengths[sequence]

    def close(self) -> None:
        self._requests.clear()
        self._lengths.clear()
        self._compiled = None

    def _read_one(self, segment: Segment) -> NDArray[np.float32]:
        past, tokens = self._lengths[segment.sequence], len(segment.tokens)
        request = self._requests[segment.sequence]
        inputs = {
            "input_ids": np.array([segment.tokens], np.int64),
            "position_ids": np.arange(past, past + tokens, dtype=np.int64)[None],
            "attention_mask": np.ones((1, past + tokens), np.int64),
            "beam_idx": np.zeros(1, np.int32),
            "wanted": np.array(list(segment.wanted) or [0], np.int32),
        }
        for name, array in inputs.items():
            request.set_tensor(name, ov.Tensor(array, shared_memory=True))
        self._lengths[segment.sequence] = past + tokens
        infer(request)
        return np.array(request.get_output_tensor(0).data[: len(segment.wanted)])

    def _states(self, sequence: int, length: int) -> dict[str, NDArray[Any]]:
        """Copies of the first `length` keys and values, `[1, kv_heads, length, head_dim]` each."""
        states = self._requests[sequence].query_state()
        return {state.name: np.array(state.state.data[:, :, :length]) for state in states}

    def _restore(self, sequence: int, arrays: dict[str, NDArray[Any]]) -> None:
        for state in self._requests[sequence].query_state():
            state.state = ov.Tensor(arrays[state.name])
