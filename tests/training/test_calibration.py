"""Finding how a model's confidences are to be bent."""

from __future__ import annotations

import math
import random

import pytest

from copydesk.desk.calibration import log_odds
from copydesk.training.calibration import fit


def drawn(slope: float, offset: float, count: int = 20000) -> tuple[list[float], list[bool]]:
    """What a model says that is wrong by a known line."""
    rng = random.Random(1)
    said = [rng.uniform(0.02, 0.98) for _ in range(count)]
    return said, [rng.random() < 1 / (1 + math.exp(-slope * log_odds(one) - offset)) for one in said]


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.5, -1.0), (2.0, 0.7)])
def test_a_line_is_found_again(slope: float, offset: float) -> None:
    line = fit(*drawn(slope, offset))
    assert line.slope == pytest.approx(slope, abs=0.1)
    assert line.offset == pytest.approx(offset, abs=0.1)


def test_few_answers_bend_little() -> None:
    line = fit([0.99, 0.98, 0.6], [True, True, False])
    assert line.slope == pytest.approx(1.0, abs=0.3)


def test_without_a_mistake_the_line_stays_finite() -> None:
    line = fit([0.999] * 500, [True] * 500)
    assert 0.999 < line.of(0.999) < 1.0


def test_confidence_that_says_nothing_is_flattened_and_never_turned_round() -> None:
    line = fit([0.9, 0.1] * 500, [False, True] * 500)
    assert 0.0 <= line.slope < 0.01
