"""What the desk asks of an engine: open a sequence, read tokens, score positions, cut back, release.

A sequence is a list of tokens that the engine has read, with whatever it keeps of them (a KV cache). Nothing here
knows tokenizers, grammars or drafts. Engines are not thread-safe: one thread calls them (the desk's).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Wanted:
    """A position to score: index into the `tokens` of its `Read`; the scores are those of the token that comes next."""

    position: int
    listed: tuple[int, ...] = ()
    """Token ids whose log-probabilities are wanted."""
    top: int = 0
    """How many of the most probable tokens are wanted, with their log-probabilities."""
    ahead: int = 0
    """Only at a read's last position: how many further tokens the engine may decode greedily without being asked
    again. It is free to decode fewer, or none."""


@dataclass(frozen=True, slots=True)
class Read:
    """Tokens to append to a sequence in this pass, and the positions among them to score (ascending)."""

    sequence: int
    tokens: tuple[int, ...]
    wanted: tuple[Wanted, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """What the model says of the token after a wanted position. Logarithms are natural, over the whole vocabulary."""

    argmax: int
    """Ties go to the lowest id."""
    logprob: float
    """Log-probability of `argmax`."""
    listed: tuple[float, ...] = ()
    """Log-probabilities in the order of `Wanted.listed`."""
    top: tuple[tuple[int, float], ...] = ()
    """`(token, log-probability)`, most probable first, ties by lowest id."""
    ahead: tuple[tuple[int, float], ...] = ()
    """What was decoded after `argmax`, with log-probabilities. The sequence then holds, beside what was to be read,
    `argmax` and all of these but the last."""


class Engine(Protocol):
    """Computes passes. Errors: `EngineError` for anything that is the engine's fault."""

    name: str
    """`openvino`, `llamacpp`, `cuda`, `transformers`."""
    model: str
    """Name of the model, as answers report it."""
    vocab_size: int
    """Rows of the output projection; every token id is below it."""
    context_length: int
    """The most tokens one sequence may hold."""
    tolerance: float
    """Scores closer than this are a near-tie: 1e-3 (fp32), 0.05 (bf16), 0.1 (activations quantised on the fly)."""

    def open(self) -> int:
        """A new empty sequence; returns its handle."""

    def fork(self, sequence: int) -> int:
        """A new sequence that holds the same tokens; the two go on independently."""

    def length(self, sequence: int) -> int:
        """How many tokens the sequence holds."""

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        """One pass of each read's sequence (each sequence at most once a call), all in one engine call.

        Returns, per read, the scores of its wanted positions in order.
        """

    def row(self, sequence: int, position: int) -> np.ndarray:
        """Float32 log-probabilities `[vocab_size]` at a position wanted in the sequence's last pass: an index into that
        pass's tokens, a negative one counting from their end. Valid until the sequence's next pass, cut or release."""

    def cut(self, sequence: int, length: int) -> None:
        """Forget all tokens after the first `length`."""

    def release(self, sequence: int) -> None:
        """Free the sequence; the handle is invalid from then on."""

    def close(self) -> None:
        """Free everything."""
