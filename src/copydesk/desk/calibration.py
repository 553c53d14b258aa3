"""From what a model says of its tokens to how often it is right: a confidence for each field of a trained task.

On the scale of log-odds a calibrated confidence is a line over the model's own. Knows nothing of files, nor how the
lines were found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from copydesk.types import Task

WHOLE = "*"
"""Stands among a task's fields for the answer as a whole."""
_NEAREST = 1e-4
"""Probabilities count as at least so far from 0 and 1: closer to 1, rounding would decide."""


def log_odds(probability: float) -> float:
    """The logarithm of the odds, within limits."""
    bounded = min(max(probability, _NEAREST), 1.0 - _NEAREST)
    return math.log(bounded / (1.0 - bounded))


@dataclass(frozen=True, slots=True)
class Line:
    """Calibrated log-odds over the model's own."""

    slope: float
    offset: float

    def of(self, probability: float) -> float:
        """The calibrated probability; that of what the model did not choose stays 0."""
        odds = self.slope * log_odds(probability) + self.offset
        return 0.5 + 0.5 * math.tanh(odds / 2.0) if probability else 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Lines by task and field; what has none is left as the model says."""

    lines: Mapping[str, Mapping[str, Line]] = field(default_factory=dict)

    def confidence(self, task: Task, name: str, probability: float) -> float:
        """The confidence of a field, or of the whole answer, of which the model gives this probability."""
        line = self.lines.get(task.name, {}).get(name) if task.trained else None
        return probability if line is None else line.of(probability)


UNCALIBRATED = Calibration()
