"""The rows of the comparison under load, as JSON and as Markdown. Knows nothing of measuring."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copydesk.bench.serving.jobs import Job, Kind
from copydesk.bench.serving.seen import Seen
from copydesk.bench.spread import Spread, ratios
from copydesk.types import Json

Place = tuple[Job, int, Kind]
"""A job, how many clients, and which server."""
_JOBS: Mapping[Job, str] = {"address": "addresses", "news": "news labels"}
_SPREADS = ("p50_ms", "p95_ms", "p99_ms", "per_second", "server_share", "client_share")


@dataclass(frozen=True, slots=True)
class Row:
    """One server in one job with so many clients."""

    job: Job
    clients: int
    kind: Kind
    seen: tuple[Seen, ...]
    """A repeat each, at least one."""
    ratio: Spread | None = None
    """How many times the other server's requests a second it answered, in the same repeats."""

    def spread(self, name: str) -> Spread | None:
        """Of one of the figures; None if no repeat has it."""
        found = [value for each in self.seen if (value := getattr(each, name)) is not None]
        return Spread.of(found) if found else None

    @property
    def errors(self) -> int:
        """Of all repeats."""
        return sum(each.errors for each in self.seen)

    def to_dict(self) -> Json:
        spreads = {name: self.spread(name) for name in _SPREADS}
        return {
            "job": self.job,
            "clients": self.clients,
            "server": self.kind,
            **{name: spread.to_dict() if spread else None for name, spread in spreads.items()},
            "times_the_other": self.ratio.to_dict() if self.ratio else None,
            "answers": sum(each.answers for each in self.seen),
            "errors": self.errors,
        }


def rows(seen: Mapping[Place, Sequence[Seen]]) -> list[Row]:
    """Of what was measured until now, ours before the peer's."""
    found = []
    for (job, clients, kind), repeats in seen.items():
        others = seen.get((job, clients, "llama.cpp"), ()) if kind == "copydesk" else ()
        if repeats:
            found.append(Row(job, clients, kind, tuple(repeats), _ratio(repeats, others)))
    return found


def _few(peer: Json) -> list[str]:
    """The numbers of clients that the peer's modes were tried with."""
    return list(next(iter(peer["requests_per_second"].values()), {}))


def _ratio(ours: Sequence[Seen], theirs: Sequence[Seen]) -> Spread | None:
    """Of requests a second, where the peer answered any in each of its repeats."""
    both = [(mine.per_second, other.per_second) for mine, other in zip(ours, theirs, strict=False)]
    if not both or not all(other for _, other in both):
        return None
    return ratios([mine for mine, _ in both], [other for _, other in both])


def table(rows: Sequence[Row], conditions: Sequence[str]) -> str:
    """The table, under it the conditions as a list."""
    lines = [
        "| | clients | server | P50, ms | P95, ms | P99, ms | requests/s | times llama.cpp's | errors "
        "| its share of the processors |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [_JOBS[row.job], str(row.clients), row.kind]
        cells += [str(row.spread(name) or "none answered") for name in ("p50_ms", "p95_ms", "p99_ms", "per_second")]
        cells += [f"{row.ratio}x" if row.ratio else "", str(row.errors)]
        cells.append(f"{statistics.median(each.server_share for each in row.seen):.0%}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {condition}" for condition in conditions)])


def conditions(report: Json) -> list[str]:
    """A sentence each."""
    hardware, sizes, peer = report["hardware"], report["sizes"], report["peer"]
    measured = [row for row in report["rows"] if row["server"] == "copydesk"]
    used = "; ".join(f"{mode} for {' and '.join(map(str, clients))}" for mode, clients in peer["used"].items())
    tried = "; ".join(
        f"{mode}: {', '.join(f'{rate:g}' for rate in rates.values())}"
        for mode, rates in peer["requests_per_second"].items()
    )
    sentences = [
        f"Hardware: {hardware['processor']} ({', '.join(hardware['features'])}), {hardware['cores_used']} cores, which "
        f"clients and server share; {hardware['memory_gb']} GB. Load average before: {report['load_average']}.",
        "Software: " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()) + ".",
        f"Medians of {sizes['repeats']} repeats (lowest-highest), in turns, each with servers of their own, "
        f"{sizes['seconds']:g} s a row after each client was answered; seed {report['seed']}; "
        f"{report['seconds']} s in all.",
        f"Model: {report['model']}; for llama.cpp's server, of {peer['version']}, as Q8_0. "
        f"Its modes by clients: {used}. Tried, addresses/s with {' and '.join(_few(peer))} clients: {tried}.",
    ]
    if measured:
        most = max(row["client_share"]["high"] for row in measured)
        sentences.append(f"The clients took at most {most:.0%} of the processors.")
    for job, found in report["agreement"].items():
        if found["compared"]:
            sentences.append(
                f"Of {found['compared']:,} {_JOBS[job]} that both were asked for, {found['equal']:,} were answered "
                f"alike; {found['equal_prompts']:,} prompts had as many tokens."
            )
    return sentences
