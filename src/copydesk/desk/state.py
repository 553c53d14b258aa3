"""Where an answer stands in its grammar: what the loops that write answers need of it.

Knows nothing of models; scores come as plain arrays.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np


class State(Protocol):
    """A legal beginning of an answer, as tokens. Its own tokens only: no prompt."""

    @property
    def finished(self) -> bool:
        """Whether the answer is complete: it ended itself, or nothing may follow."""

    def forced(self) -> tuple[int, ...]:
        """Accept the tokens that can only come next, whatever the model says, and return them."""

    def allows(self, token: int) -> bool:
        """Whether a token is legal here."""

    def accept(self, token: int) -> bool:
        """Append a token if it is legal; returns whether it was."""

    def rewind(self, count: int) -> None:
        """Take back the last `count` tokens, forced ones counted."""

    def best(self, scores: np.ndarray) -> int:
        """The legal token of the highest score in `scores` `[vocab_size]`, ties by lowest id."""

    def copy(self) -> Self:
        """An independent state at the same place."""
