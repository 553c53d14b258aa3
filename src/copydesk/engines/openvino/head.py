"""The output projection as a graph of its own: only wanted positions reach it, and rows can be asked for later.

Knows hidden states and scores, but no sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.openvino.compression import Matrix
from copydesk.engines.openvino.graph import build_head
from copydesk.engines.openvino.runtime import Setting, compile_model, infer, ov
from copydesk.engines.protocol import Scores, Wanted
from copydesk.engines.scoring import score_rows

_LOGITS_BYTES = 32 * 2**20
"""About how much of logits is computed at a time: few enough to be read back from the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The wanted positions of one engine call: hidden states `[positions, hidden_size]` and their scores, in order."""

    hidden: NDArray[np.float32]
    scores: list[Scores]


class Head:
    """Scores of hidden states."""

    def __init__(self, matrix: Matrix, setting: Setting, threads: int) -> None:
        """Errors: `EngineError` `engine_failed`."""
        self.vocab_size = matrix.stored.shape[0]
        self._rows_at_once = max(16, _LOGITS_BYTES // (4 * self.vocab_size))
        self._request = compile_model(build_head(matrix), setting, threads).create_infer_request()
        self._input = np.empty((0, matrix.columns), np.float32)
        # Whose rows the request's outputs still hold, and the index of the first of them.
        self._held: Scored | None = None
        self._first = 0

    def score(self, hidden: NDArray[np.float32], wanted: Sequence[Wanted]) -> Scored:
        """The scores of `hidden` `[positions, hidden_size]`. Errors: `EngineError` `engine_failed`."""
        scored = Scored(hidden, [])
        for begin in range(0, len(wanted), self._rows_at_once):
            end = begin + self._rows_at_once
            logits, normalizers = self._project(scored, begin, end)
            scored.scores.extend(score_rows(logits, normalizers, wanted[begin:end]))
        return scored

    def row(self, scored: Scored, index: int) -> NDArray[np.float32]:
        """Log-probabilities `[vocab_size]` at a scored position. Cheap for those of the last `score`, else computed."""
        logits, normalizers = self._request.get_output_tensor(0).data, self._request.get_output_tensor(1).data
        if self._held is not scored or not 0 <= index - self._first < len(logits):
            logits, normalizers = self._project(scored, index, index + 1)
        place = index - self._first
        logprobs: NDArray[np.float32] = logits[place] - normalizers[place]
        return logprobs

    def close(self) -> None:
        """Free everything."""
        self._request = self._held = None

    def _project(self, scored: Scored, begin: int, end: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits `[rows, vocab_size]` and normalizers `[rows]` of some positions; the next call overwrites them."""
        # Shared with the request, so it must live as long as it reads it.
        self._input = np.ascontiguousarray(scored.hidden[begin:end])
        self._held = None
        self._request.set_input_tensor(0, ov.Tensor(self._input, shared_memory=True))
        infer(self._request)
        self._held, self._first = scored, begin
        return self._request.get_output_tensor(0).data, self._request.get_output_tensor(1).data
