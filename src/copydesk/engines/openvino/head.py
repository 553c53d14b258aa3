"""The output projection as a graph of its own: only wanted positions reach it, and rows can be asked for later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.openvino.compression import Matrix
from copydesk.engines.openvino.graph import build_head
from copydesk.engines.openvino.runtime import Setting, compile_model, infer, ov

_LOGITS_BYTES = 32 * 2**20
"""About how much of logits is computed at a time: few enough to be read back from the processor's cache."""


class Head:
    """Logits of hidden states."""

    def __init__(self, matrix: Matrix, setting: Setting, threads: int) -> None:
        """Errors: `EngineError` `engine_failed`."""
        self.vocab_size = matrix.stored.shape[0]
        self.rows_at_once = max(16, _LOGITS_BYTES // (4 * self.vocab_size))
        """The most rows to ask for in one call."""
        self._request = compile_model(build_head(matrix), setting, threads).create_infer_request()
        self._hidden = np.empty((0, matrix.columns), np.float32)

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """Float32 logits `[rows, vocab_size]` of `hidden` `[rows, hidden_size]`; overwritten by the next call."""
        # Shared with the request, so it must live as long as it reads it.
        self._hidden = np.ascontiguousarray(hidden)
        self._request.set_input_tensor(0, ov.Tensor(self._hidden, shared_memory=True))
        infer(self._request)
        logits: NDArray[np.float32] = self._request.get_output_tensor(0).data
        return logits
