"""Draws a report of `copydesk bench gpu`: how many times faster than vLLM, and how near to what the GPU can do.

    copydesk bench gpu ... > report.json && python scripts/plot_gpu.py report.json docs/images/gpu.svg

Needs `copydesk[bench]`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot


def draw(report: dict[str, Any], out: Path) -> None:
    """Two bars a row that has a peer: the ratio on the left, the shares of the limit on the right."""
    rows = [row for row in report["rows"] if row["more"].get("times")][::-1]
    names = [row["what"] for row in rows]
    figure, (ratios, shares) = pyplot.subplots(1, 2, figsize=(12, 0.7 * len(rows) + 1.6), sharey=True)
    times = [row["more"]["times"] for row in rows]
    spread = [[one["median"] - one["low"] for one in times], [one["high"] - one["median"] for one in times]]
    ratios.barh(names, [one["median"] for one in times], xerr=spread, color="#2a6f97", capsize=3)
    for index, row in enumerate(rows):
        if row["ratio"]:
            ratios.plot([row["wanted"]] * 2, [index - 0.45, index + 0.45], color="#d1495b")
    ratios.set_xlabel("times vLLM's better mode (red: wanted)")
    for name, key, offset, color in (
        ("copydesk", "of_limit", 0.2, "#2a6f97"),
        ("vLLM", "peer_of_limit", -0.2, "#adb5bd"),
    ):
        places = [index + offset for index in range(len(rows))]
        shares.barh(places, [row[key] for row in rows], 0.4, label=name, color=color)
    shares.set_xlabel("share of what the GPU can do")
    shares.set_xlim(0, 1)
    shares.legend(loc="lower right")
    figure.suptitle(
        f"{report['gpu']['name']}, Qwen3-0.6B's shape, bf16; medians of {report['sizes']['repeats']} repeats"
    )
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    draw(json.loads(arguments.report.read_text(encoding="utf-8")), arguments.out)


if __name__ == "__main__":
    main()
