"""Finds the line that turns a model's log-odds into those of being right (Platt's method), held to a prior.

Knows no models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from copydesk.desk.calibration import Line, log_odds

_STEPS = 50
_SLOPE_PRIOR = 4.0
_OFFSET_PRIOR = 0.25
"""What speaks for a slope of 1 and an offset of 0: few mistakes must not bend the line far, nor none send it off."""


def fit(probabilities: Sequence[float], right: Sequence[bool]) -> Line:
    """The line of highest posterior for what a model said of its answers and whether they were right."""
    design = np.stack([np.array([log_odds(one) for one in probabilities]), np.ones(len(probabilities))], axis=1)
    wanted = np.asarray(right, dtype=np.float64)
    prior = np.array([_SLOPE_PRIOR, _OFFSET_PRIOR])
    weights = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        given = 0.5 + 0.5 * np.tanh(design @ weights / 2.0)
        gradient = design.T @ (given - wanted) + prior * (weights - (1.0, 0.0))
        curvature = (design * (given * (1.0 - given))[:, None]).T @ design + np.diag(prior)
        step = np.linalg.solve(curvature, gradient)
        weights -= step * min(1.0, 1.0 / float(np.abs(step).max() + 1e-12))  # far steps overshoot
    return Line(max(0.0, round(float(weights[0]), 4)), round(float(weights[1]), 4))
