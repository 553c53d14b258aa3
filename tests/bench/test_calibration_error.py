"""How far confidences are from being what they say."""

from __future__ import annotations

import random

import pytest

from copydesk.bench.calibration_error import calibration_error


def test_confidences_that_say_what_they_are_have_no_error() -> None:
    assert calibration_error([0.75] * 4, [True, True, True, False]) == 0.0
    assert calibration_error([1.0, 0.0], [True, False]) == 0.0


def test_the_gaps_are_weighted_by_how_many_there_are() -> None:
    assert calibration_error([0.9, 0.9, 0.3], [True, False, False]) == pytest.approx((0.8 + 0.3) / 3)


def test_nothing_has_no_error() -> None:
    assert calibration_error([], []) is None


def test_an_error_is_found_where_confidence_is_too_high() -> None:
    rng = random.Random(0)
    given = [rng.random() for _ in range(20000)]
    right = [rng.random() < one**2 for one in given]
    assert calibration_error(given, right) == pytest.approx(1 / 2 - 1 / 3, abs=0.02)
