"""What a window of measurement comes to: percentiles, a rate, errors, shares of the processor, and what was answered.

Knows jobs by how answers are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copydesk.bench.serving.clients import Window
from copydesk.bench.serving.jobs import Job, Said, said


@dataclass(frozen=True, slots=True)
class Seen:
    """Of one window; times are those of requests that were answered rightly."""

    p50_ms: float | None
    """None where nothing was answered, as the two below."""
    p95_ms: float | None
    p99_ms: float | None
    per_second: float
    answers: int
    errors: int
    """Requests that were refused or lost, or whose answer was none, or not by a model."""
    server_share: float
    """Of the processors, 0 to 1."""
    client_share: float
    said: Mapping[str, Said]
    """By text."""


def seen(job: Job, window: Window, cores: int) -> Seen:
    """The figures of `window` on so many cores."""
    contents = [said(job, reply.body) if reply.status == 200 else None for reply in window.replies]
    right = [(reply, content) for reply, content in zip(window.replies, contents, strict=True) if content is not None]
    ms = sorted(reply.ms for reply, _ in right)
    capacity = max(window.seconds * cores, 1e-9)
    return Seen(
        p50_ms=percentile(ms, 50),
        p95_ms=percentile(ms, 95),
        p99_ms=percentile(ms, 99),
        per_second=len(right) / max(window.seconds, 1e-9),
        answers=len(right),
        errors=len(contents) - len(right),
        server_share=window.server_seconds / capacity,
        client_share=window.client_seconds / capacity,
        said={reply.text: content for reply, content in right},
    )


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The smallest value that at least so many percent, 1 to 100, do not exceed; None if there are no values."""
    return ordered[math.ceil(len(ordered) * percent / 100) - 1] if ordered else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two servers' answers to the same texts compare."""

    compared: int = 0
    equal: int = 0
    equal_prompts: int = 0
    """Texts whose prompts had as many tokens."""

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.compared + other.compared, self.equal + other.equal, self.equal_prompts + other.equal_prompts
        )


def agreement(ours: Sequence[Seen], theirs: Sequence[Seen]) -> Agreement:
    """Of the texts that both have answered, each counted once."""
    one, other = ({text: each for seen in both for text, each in seen.said.items()} for both in (ours, theirs))
    both = [(one[text], other[text]) for text in one.keys() & other.keys()]
    return Agreement(
        len(both),
        sum(mine.value == yours.value for mine, yours in both),
        sum(mine.prompt_tokens == yours.prompt_tokens for mine, yours in both),
    )
