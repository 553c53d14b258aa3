"""What passes cost, by a clock that a test turns."""

from __future__ import annotations

import pytest

from copydesk.desk.costs import Meter
from fake_engine import FakeEngine, hashed


class Clock:
    """Each pass takes as long as `seconds` says for its tokens."""

    def __init__(self, engine: FakeEngine, seconds: dict[int, float]) -> None:
        self._engine = engine
        self._seconds = seconds
        self._read = 0
        self._now = 0.0

    def __call__(self) -> float:
        tokens, self._read = self._engine.tokens_read - self._read, self._engine.tokens_read
        self._now += self._seconds.get(tokens, 0.0)
        return self._now


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(50, hashed(50))


def measured(engine: FakeEngine, seconds: dict[int, float]) -> Meter:
    meter = Meter()
    meter.measure(engine, clock=Clock(engine, seconds))
    return meter


def table(meter: Meter) -> dict[int, float]:
    costs = meter.costs
    assert costs is not None
    return {tokens: round(passes, 6) for tokens, passes in zip(costs.tokens, costs.passes, strict=True)}


def test_a_few_passes_are_measured_and_leave_nothing_open(engine: FakeEngine) -> None:
    assert table(measured(engine, {1: 0.002, 8: 0.004, 32: 0.014})) == {1: 1.0, 8: 2.0, 32: 7.0}
    assert engine.open_sequences == 0
    assert engine.tokens_read < 64


def test_on_a_slow_engine_fewer_are_made(engine: FakeEngine) -> None:
    measured(engine, {1: 0.1, 8: 0.8, 32: 3.2})
    assert len(engine.calls) < 5


def test_nothing_is_read_that_the_context_does_not_hold() -> None:
    engine = FakeEngine(50, hashed(50), context_length=16)
    assert table(measured(engine, {1: 1e-3, 8: 2e-3})) == {1: 1.0, 8: 2.0}


def test_a_pass_that_was_held_up_counts_as_no_more_than_a_larger_one_or_many_of_a_token(engine: FakeEngine) -> None:
    assert table(measured(engine, {1: 0.002, 8: 0.009, 32: 0.006})) == {1: 1.0, 8: 3.0, 32: 3.0}
    assert table(measured(engine, {1: 0.002, 8: 0.008, 32: 0.2})) == {1: 1.0, 8: 4.0, 32: 16.0}


def test_costs_follow_the_passes_of_answers(engine: FakeEngine) -> None:
    meter = measured(engine, {1: 0.002, 8: 0.004, 32: 0.02})
    due = [meter.took(30 + number % 2, 30, 0.01) for number in range(80)]
    assert sum(due) == 10
    assert table(meter)[32] == pytest.approx(5.0, rel=0.01)
    meter.took(32, 32, 60.0)
    assert table(meter)[32] < 8.0


def test_what_it_costs_that_passes_are_not_as_large_as_the_one_before(engine: FakeEngine) -> None:
    meter = measured(engine, {1: 0.002, 8: 0.004, 32: 0.02})
    assert meter.costs is not None
    assert meter.costs.change == 0.0
    for _ in range(60):
        for tokens, seconds in ((8, 0.005), (1, 0.003), (1, 0.002), (1, 0.002)):
            meter.took(tokens, tokens, seconds)
    assert meter.costs.change == pytest.approx(0.5, rel=0.02)
    assert meter.costs.of(8) == pytest.approx(2.0, rel=0.02)
    assert meter.costs.of(1) == 1.0


def test_passes_that_say_nothing_of_drafts_do_not_count(engine: FakeEngine) -> None:
    meter = measured(engine, {1: 0.002, 8: 0.004, 32: 0.02})
    before = table(meter)
    for tokens, scored in ((32, 1), (64, 20), (9, 9), (2, 2), (10**6, 10**6)):
        assert not any(meter.took(tokens, scored, 1e-6) for _ in range(20))
    assert table(meter) == before


def test_there_are_none_before_any_was_measured() -> None:
    assert Meter().costs is None
