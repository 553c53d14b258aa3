"""From a model's probabilities to confidences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.calibration import UNCALIBRATED, WHOLE, Calibration, Line
from copydesk.tasks.builtin import ADDRESS
from copydesk.types import Task

LINES = st.builds(Line, st.floats(0, 1e6), st.floats(-1e6, 1e6))
PROBABILITIES = st.floats(0, 1)


def test_a_line_moves_log_odds() -> None:
    assert Line(1.0, 0.0).of(0.75) == pytest.approx(0.75)
    assert Line(2.0, 0.0).of(0.75) == pytest.approx(0.9)
    assert Line(0.0, 0.0).of(0.75) == pytest.approx(0.5)


def test_what_the_model_did_not_choose_stays_at_nothing() -> None:
    assert Line(1.0, 3.0).of(0.0) == 0.0


@given(LINES, PROBABILITIES, PROBABILITIES)
def test_a_confidence_is_a_probability_and_keeps_the_order(line: Line, one: float, other: float) -> None:
    assert 0.0 <= line.of(one) <= 1.0
    assert (line.of(one) - line.of(other)) * (one - other) >= 0.0


def test_only_fields_of_trained_tasks_are_calibrated() -> None:
    calibration = Calibration({"address": {"city": Line(2.0, 0.0), WHOLE: Line(0.0, 0.0)}})
    assert calibration.confidence(ADDRESS, "city", 0.75) == pytest.approx(0.9)
    assert calibration.confidence(ADDRESS, WHOLE, 0.75) == pytest.approx(0.5)
    assert calibration.confidence(ADDRESS, "name", 0.75) == 0.75
    assert calibration.confidence(Task("address", "another of that name"), "city", 0.75) == 0.75
    assert UNCALIBRATED.confidence(ADDRESS, "city", 0.75) == 0.75
