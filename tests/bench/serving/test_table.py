"""Rows and the page."""

from __future__ import annotations

import json
from typing import Any

from copydesk.bench.serving.seen import Seen
from copydesk.bench.serving.table import conditions, rows, table


def _seen(rate: float, errors: int = 0) -> Seen:
    ms = 1e3 / rate if rate else None
    return Seen(ms, ms, ms, rate, 10, errors, 0.5, 0.25, {})


def test_ours_is_compared_within_repeats() -> None:
    found = rows(
        {
            ("news", 10, "copydesk"): [_seen(20.0), _seen(30.0, errors=2), _seen(40.0)],
            ("news", 10, "llama.cpp"): [_seen(10.0), _seen(10.0)],
            ("news", 64, "copydesk"): [],
        }
    )
    assert [(row.kind, row.clients, row.errors) for row in found] == [("copydesk", 10, 2), ("llama.cpp", 10, 0)]
    ours, theirs = (row.to_dict() for row in found)
    assert ours["times_the_other"] == {"median": 2.5, "low": 2.0, "high": 3.0}
    assert ours["per_second"] == {"median": 30.0, "low": 20.0, "high": 40.0}
    assert theirs["times_the_other"] is None
    written = table(found, ["Said."])
    ms = "33.3 (25-50)"
    assert f"| news labels | 10 | copydesk | {ms} | {ms} | {ms} | 30 (20-40) | 2.5 (2-3)x | 2 | 50% |" in written
    assert written.endswith("\n\n- Said.")


def test_one_that_answers_nothing() -> None:
    ours, theirs = rows({("news", 1, "copydesk"): [_seen(2.0)], ("news", 1, "llama.cpp"): [_seen(0.0)]})
    assert ours.ratio is None
    assert theirs.to_dict()["p50_ms"] is None
    assert "| news labels | 1 | llama.cpp | none answered | none answered | none answered | 0 |  | 0 |" in table(
        [theirs], []
    )


def test_conditions() -> None:
    report: dict[str, Any] = {
        "hardware": {"processor": "A", "features": ["avx2"], "cores_used": 2, "memory_gb": 8.0},
        "load_average": 0.5,
        "versions": {"copydesk": "1"},
        "sizes": {"repeats": 3, "seconds": 5.0},
        "seed": 4,
        "seconds": 300,
        "model": "nano",
        "peer": {
            "version": "x 1",
            "used": {"4 slots": [1, 10], "16 slots": [64]},
            "requests_per_second": {"4 slots": {"1": 3.5, "10": 4.0}},
        },
        "rows": [row.to_dict() for row in rows({("news", 1, "copydesk"): [_seen(2.0)]})],
        "agreement": {
            "address": {"compared": 0, "equal": 0, "equal_prompts": 0},
            "news": {"compared": 1200, "equal": 1199, "equal_prompts": 1200},
        },
    }
    said = " ".join(conditions(json.loads(json.dumps(report))))
    assert "A (avx2), 2 cores" in said
    assert "Load average before: 0.5." in said
    assert "5 s a row after each client was answered; seed 4; 300 s in all." in said
    assert "Its modes by clients: 4 slots for 1 and 10; 16 slots for 64. Tried, addresses/s" in said
    assert "with 1 and 10 clients: 4 slots: 3.5, 4." in said
    assert "The clients took at most 25% of the processors." in said
    assert "Of 1,200 news labels that both were asked for, 1,199 were answered alike; 1,200 prompts" in said
    assert "addresses that both" not in said
