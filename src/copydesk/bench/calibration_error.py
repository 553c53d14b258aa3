"""How far confidences are from being what they say: of answers given at 0.9, nine in ten should be right.

Knows no models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_BINS = 10


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """The expected calibration error: the gap between mean confidence and share of right ones, in ten bins of equal
    width, weighted by how many fall into each. None of nothing."""
    if not confidences:
        return None
    given = np.asarray(confidences, dtype=np.float64)
    gaps = np.asarray(right, dtype=np.float64) - given
    bins = np.minimum((given * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=gaps, minlength=_BINS)).sum() / len(given))
