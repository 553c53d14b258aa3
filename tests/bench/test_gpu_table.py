"""The GPU benchmark's table."""

from __future__ import annotations

from copydesk.bench.gpu_contest import Contest
from copydesk.bench.gpu_table import table
from copydesk.bench.gpu_time import Spent


def test_a_row_and_its_conditions() -> None:
    contest = Contest("a", "an address", "ms", 25.0, lower=True, ours=lambda: 4.0, peers={"vLLM": lambda: 200.0})
    row = contest.row(contest.run(1), limit=0.4, spent=Spent(2.5, 0.003, 1.2))
    report = {
        "rows": [row.to_dict()],
        "gpu": {"name": "a GPU", "versions": {"torch": "2"}},
        "hardware": {"cores_used": 16},
        "limits": {"bytes_per_second": 4.2e12, "flops": 7.5e14},
        "versions": {"copydesk": "1"},
        "peers": {"vLLM": "0.26"},
        "workers": 15,
        "seconds": 200,
        "sizes": {"repeats": 3, "peer_addresses": 512, "peer_news": 4096},
    }
    lines = table(report).splitlines()
    assert lines[2] == ("| an address | 25x | 4 ms | vLLM: 200 ms | 50x | yes | 10% / 0% | 2.50 / 0.003 / 1.20 ms |")
    text = "\n".join(lines[3:])
    assert "a GPU, 16 CPU cores; memory reads 4.20 TB/s and bf16 products reach 750 TFLOP/s" in text
    assert "copydesk 1, torch 2, vLLM 0.26" in text
    assert "15 worker processes" in text
