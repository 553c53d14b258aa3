"""The conditions of a measurement in words."""

from __future__ import annotations

from copydesk.bench.conditions import conditions

REPORT = {
    "hardware": {"processor": "Chip", "features": ["avx2"], "cores_used": 2, "memory_gb": 16.0},
    "sizes": {"repeats": 3},
    "memory_read_gb_s": 40.0,
    "load_average": 0.1,
    "versions": {"numpy": "2.0"},
    "seed": 7,
    "seconds": 60,
    "peers": {
        "wheel": {"version": "1", "speculation": {"used": False, "ms_with": 20.0, "ms_without": 10.0}},
        "build": {"version": "2", "speculation": None},
    },
    "rows": [
        {"name": "passes", "peer": "no draft", "more": {"different_answers": 0}},
        {"name": "grammar", "peer": "", "more": {}},
    ],
}


def test_all_is_said() -> None:
    text = "\n".join(conditions(REPORT))
    for part in ("Chip (avx2)", "40.0 GB/s", "numpy 2.0", "3 repeats", "seed 7", "not used: P50 20 ms", "build: 2."):
        assert part in text
    assert text.endswith("passes: 0 answers differ from no draft's.")
