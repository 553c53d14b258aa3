"""The breaker: what it lets through when, and that nothing keeps it shut for ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.serving import breaker as module
from copydesk.serving.breaker import Breaker, BreakerSettings

SETTINGS = BreakerSettings(open_seconds=5, longest_seconds=15, trials=2, forget_seconds=100)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    return clock


def passes(breaker: Breaker, ok: bool | None) -> None:
    assert breaker.admits()
    breaker.ended(ok, trial=breaker.began())


def test_closed_it_lets_everything_through_whatever_becomes_of_it(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    for ok in (True, False, None):
        passes(breaker, ok)
    assert breaker.state == "closed"


def test_open_it_lets_nothing_through_then_one_at_a_time_then_everything(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    assert breaker.open("too slow") == 5
    assert (breaker.state, breaker.why, breaker.admits()) == ("open", "too slow", False)
    now[0] += 5
    assert breaker.state == "half_open"
    trial = breaker.began()
    assert not breaker.admits()
    breaker.ended(True, trial=trial)
    passes(breaker, True)
    assert breaker.state == "closed"
    assert breaker.admits()


def test_a_trial_that_tells_nothing_leaves_it_as_it_is(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    breaker.open("x")
    now[0] += 5
    passes(breaker, None)
    assert breaker.state == "half_open"
    assert breaker.admits()


def test_each_time_it_stays_open_longer_up_to_a_limit_until_that_is_forgotten(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    assert breaker.open("x") == 5
    for pause in (10, 15, 15):
        now[0] += 20
        passes(breaker, True)
        passes(breaker, False)
        assert breaker.state == "open"
        now[0] += pause - 0.1
        assert breaker.state == "open"
        now[0] += 0.2
        assert breaker.state == "half_open"
    passes(breaker, True)
    passes(breaker, True)
    now[0] += 99
    assert breaker.open("y") == 15
    now[0] += 20
    passes(breaker, True)
    passes(breaker, True)
    now[0] += 101
    assert breaker.open("z") == 5


def test_what_was_replaced_is_tried_at_once(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    breaker.try_now()
    assert breaker.state == "closed"
    breaker.open("x")
    breaker.try_now()
    assert breaker.state == "half_open"
    passes(breaker, True)
    passes(breaker, True)
    assert breaker.state == "closed"
    assert breaker.open("y") == 10


def test_a_request_from_before_it_opened_says_nothing(now: list[float]) -> None:
    breaker = Breaker(SETTINGS)
    before = breaker.began()
    breaker.open("x")
    now[0] += 5
    trial = breaker.began()
    breaker.ended(True, trial=before)
    assert not breaker.admits()
    breaker.ended(True, trial=trial)
    assert breaker.admits()


@given(steps=st.lists(st.tuples(st.sampled_from(["open", "good", "bad", "none", "wait"]), st.floats(0, 30))))
def test_it_never_shuts_for_ever(steps: list[tuple[str, float]]) -> None:
    clock = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.time, "monotonic", lambda: clock[0])
        breaker = Breaker(SETTINGS)
        for step, pause in steps:
            if step == "open":
                assert 0 < breaker.open("x") <= 15
            elif step == "wait":
                clock[0] += pause
            elif breaker.admits():
                passes(breaker, {"good": True, "bad": False, "none": None}[step])
        clock[0] += 15
        if breaker.state != "closed":
            passes(breaker, True)
            passes(breaker, True)
        assert breaker.state == "closed"
