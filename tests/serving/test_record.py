"""Who falls behind: by failures, by answers that are none, by time; and who is left alone."""

from __future__ import annotations

import pytest

from copydesk.serving import record as module
from copydesk.serving.record import JudgingSettings, Outcome, Record, falls_behind

SETTINGS = JudgingSettings(window_seconds=60, least_calls=10)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    return clock


def of(ok: int = 0, failed: int = 0, invalid: int = 0, seconds: float = 0.1) -> Record:
    record = Record(60)
    calls: list[tuple[Outcome, int]] = [("ok", ok), ("failed", failed), ("invalid", invalid)]
    for outcome, count in calls:
        for _ in range(count):
            record.add(outcome, seconds)
    return record


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (of(100), of(100), None),
        (of(5, failed=4), of(100), None),  # too few to say
        (of(10, failed=10), None, "50% of its calls failed"),
        (of(15, failed=5), None, None),  # nobody to compare with
        (of(15, failed=5), of(100), "25% of its calls failed, of the others' 0%"),
        (of(15, failed=5), of(90, failed=10), None),
        (of(15, failed=5), of(3), None),
        (of(18, invalid=2), of(100), "10% of its answers were invalid, of the others' 0%"),
        (of(18, invalid=2), of(90, invalid=10), None),
        (of(0, invalid=20), None, None),  # better than none
        (of(20, seconds=1.0), of(20, seconds=0.2), "took 1.00 s, the others' 0.20 s"),
        (of(20, seconds=0.5), of(20, seconds=0.2), None),  # not three times as long
        (of(20, seconds=0.05), of(20, seconds=0.001), None),  # a moment
    ],
)
def test_who_is_taken_out(one: Record, other: Record | None, why: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)
    found = falls_behind(one, [other] if other else [], SETTINGS)
    if why is None:
        assert found is None
    else:
        assert why in (found or "")


def test_what_is_long_ago_is_forgotten(now: list[float]) -> None:
    record = of(ok=5, failed=10)
    assert record.share("failed") == pytest.approx(2 / 3)
    now[0] += 61
    record.add("ok", 0.5)
    assert len(record) == 1
    assert record.share("failed") == 0
    assert record.median_seconds() == 0.5
    record.clear()
    assert record.median_seconds() is None
    assert record.share("ok") == 0


def test_of_many_the_last_count() -> None:
    record = of(ok=500, failed=400)
    assert len(record) == 500
    assert (record.share("ok"), record.share("failed")) == (0.2, 0.8)
    record.add("invalid", 0.1)
    assert (record.share("ok"), record.share("invalid")) == (0.198, 0.002)
