"""The GPU benchmark's report as Markdown. Knows nothing of measuring."""

from __future__ import annotations

from copydesk.bench.spread import Spread
from copydesk.types import Json


def table(report: Json) -> str:
    """The report as Markdown."""
    lines = [
        "| what | wanted | ours | vLLM in process, its better mode | times | reached | share of the limit, ours / vLLM "
        "| of an answer: host / copies / kernels |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        more = row["more"]
        ratio = more.get("times")
        wanted = f"{'at most ' if row['most'] else ''}{row['wanted']:g}" + ("x" if row["ratio"] else f" {row['unit']}")
        peer = "" if not row["theirs"] else f"{row['peer']}: {_spread(row['theirs'])} {row['unit']}"
        spent_on = "-"
        if where := more.get("where"):
            spent_on = f"{where['host_ms']:.2f} / {where['copies_ms']:.3f} / {where['kernels_ms']:.2f} ms"
        shares = " / ".join("-" if row[key] is None else f"{row[key]:.0%}" for key in ("of_limit", "peer_of_limit"))
        lines.append(
            f"| {row['what']} | {wanted} | {_spread(row['ours'])} {row['unit']} | {peer or row['peer']} "
            f"| {_spread(ratio) + 'x' if ratio else '-'} | {'yes' if row['reached'] else '**no**'} "
            f"| {shares} | {spent_on} |"
        )
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in _conditions(report))])


def _conditions(report: Json) -> list[str]:
    limits, gpu, sizes = report["limits"], report["gpu"], report["sizes"]
    versions = [*(report["versions"] | gpu["versions"]).items(), *report["peers"].items()]
    return [
        f"Hardware: {gpu['name']}, {report['hardware']['cores_used']} CPU cores; memory reads "
        f"{limits['bytes_per_second'] / 1e12:.2f} TB/s and bf16 products reach {limits['flops'] / 1e12:.0f} TFLOP/s, "
        "both measured in the same run. The limit of a forward: its weights read once, products of all its tokens.",
        "Software: " + ", ".join(f"{name} {version}" for name, version in versions) + ".",
        f"Medians of {sizes['repeats']} repeats (lowest-highest), taken in turns; {report['workers']} worker processes "
        f"of ours; {report['seconds']} s in all.",
        f"vLLM's rates are of {sizes['peer_addresses']:,} addresses and {sizes['peer_news']:,} news.",
    ]


def _spread(numbers: Json) -> str:
    return str(Spread(numbers["median"], numbers["low"], numbers["high"]))
