"""What the engine asks of the compiled network, whichever way it keeps its KV cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens to append to a sequence, and the indices among them whose hidden states are wanted."""

    sequence: int
    tokens: Sequence[int]
    wanted: Sequence[int]


class Backbone(Protocol):
    """Sequences and their hidden states. Errors: `EngineError`; after one, every sequence is as it was before."""

    capacity: int
    """The most tokens that one sequence can hold."""

    def open(self) -> int:
        """A new empty sequence; returns its handle."""

    def fork(self, sequence: int) -> int:
        """A new sequence that holds the same tokens."""

    def length(self, sequence: int) -> int:
        """How many tokens the sequence holds. Errors: `KeyError` for a handle that is not open."""

    def read(self, segments: Sequence[Segment]) -> NDArray[np.float32]:
        """Append each segment to its sequence (each at most once a call).

        Returns the wanted hidden states, `[all wanted, hidden_size]`, segment by segment, in memory of its own.
        """

    def cut(self, sequence: int, length: int) -> None:
        """Forget all tokens after the first `length`."""

    def release(self, sequence: int) -> None:
        """Free the sequence."""

    def close(self) -> None:
        """Free everything."""
