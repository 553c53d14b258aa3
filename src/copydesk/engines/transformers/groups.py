"""How the reads of one engine call are divided among forwards: padding and memory bounded, a long read in parts.

Rows of a forward are as wide as the longest among them. Knows neither tokens nor tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Tokens `[begin, end)` of a read, which come after `past` tokens of its sequence."""

    read: int
    """Which of the reads."""
    begin: int
    end: int
    past: int

    @property
    def count(self) -> int:
        """How many tokens."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Limits:
    """What one forward may be."""

    tokens: int
    """Rows times width."""
    padding: int
    """Tokens of padding that cost no more than another forward."""
    cells: int
    """Rows times all the tokens that the longest attends to."""


def forwards(parts: Sequence[Part], limits: Limits) -> Iterator[list[Part]]:
    """The parts, each once, in as few forwards as the limits allow. One that is over a limit by itself goes alone."""
    group: list[Part] = []
    width = padding = past = 0
    for part in sorted(parts, key=lambda part: (-part.count, -part.past)):
        rows, padding = len(group) + 1, padding + width - part.count
        longest = max(past, part.past)
        if group and (
            rows * width > limits.tokens or padding > limits.padding or rows * (longest + width) > limits.cells
        ):
            yield group
            group = []
        if not group:
            width, padding, longest = part.count, 0, part.past
        group.append(part)
        past = longest
    if group:
        yield group


def rounds(counts: Sequence[int], pasts: Sequence[int], limits: Limits) -> Iterator[list[Part]]:
    """Parts of reads of so many tokens after so many, none longer than a forward may be; first what comes first."""
    done = 0
    while done < max(counts, default=0):
        yield [
            Part(read, done, min(done + limits.tokens, count), past + done)
            for read, (count, past) in enumerate(zip(counts, pasts, strict=True))
            if count > done
        ]
        done += limits.tokens
