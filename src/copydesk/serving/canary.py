"""A canary: a tiny question with a known answer, which shows that a model makes progress and still says what it said.

Knows nothing of how often it is asked, nor of what follows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from copydesk.errors import EngineError
from copydesk.serving.backend import Backend
from copydesk.tasks.builtin import AGNEWS

_TEXT = "Stocks rallied on Wall Street as the bank reported record quarterly profits."
_TOLERANCE = 0.2
"""What a label's probability may differ between two times: far more than rounding in other company brings about."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What was answered, and when."""

    label: str
    labels: Mapping[str, float]
    seconds: float
    """How long it took."""
    at: float
    """`time.monotonic()` of the answer."""
    mass: float | None = None
    """The probability of all labels together, where the model tells it."""


async def ask(backend: Backend) -> Proof:
    """An answer of the model's: one pass where labels can be scored. Errors: whatever keeps it from answering."""
    started = time.monotonic()
    answer = await backend.classify(_TEXT, AGNEWS, {})
    if answer.value not in AGNEWS.labels or not all(0.0 <= share <= 1.0 for share in answer.labels.values()):
        raise EngineError(f"A canary was answered with {answer.value!r}, which is nonsense.", code="engine_failed")
    now = time.monotonic()
    return Proof(answer.value, answer.labels, now - started, now, answer.label_mass)


def differs(now: Proof, before: Proof) -> bool:
    """Whether a model no longer says what it said."""
    if now.mass is not None and before.mass is not None and abs(now.mass - before.mass) > _TOLERANCE:
        return True
    if now.labels and before.labels:
        return any(abs(share - before.labels.get(label, 0.0)) > _TOLERANCE for label, share in now.labels.items())
    return now.label != before.label
