"""The rows of the comparison of engines, as JSON and as Markdown. Knows nothing of measuring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from copydesk.bench.engines.questions import Job
from copydesk.bench.spread import Spread
from copydesk.types import Json

_JOBS = {"address": "Addresses", "news": "News labels", "chat": "Short chats"}
_COLUMNS = (
    "",
    "load, s",
    "first token, ms",
    "answer, P50 ms",
    "times faster",
    "answers/s",
    "peak memory, MB",
    "memory after, MB",
    "right",
)
_SPREADS = ("load_s", "first_ms", "p50_ms", "per_second", "peak_mb", "held_mb")


@dataclass(frozen=True, slots=True)
class Row:
    """One way in one job."""

    model: str
    job: Job
    name: str
    what: str
    load_s: Spread | None = None
    first_ms: Spread | None = None
    p50_ms: Spread | None = None
    per_second: Spread | None = None
    peak_mb: Spread | None = None
    held_mb: Spread | None = None
    """None where memory cannot be told."""
    right: int = 0
    answers: int = 0
    """Of which so many are right."""
    why_not: str = ""
    """Why it does not run here, in which case the rest is empty."""

    def to_dict(self) -> Json:
        spreads = {name: getattr(self, name) for name in _SPREADS}
        return asdict(self) | {name: spread.to_dict() if spread else None for name, spread in spreads.items()}


def table(rows: Sequence[Row], report: Json) -> str:
    """A table for each job, under them the conditions as a list."""
    parts = []
    for model, job in dict.fromkeys((row.model, row.job) for row in rows):
        parts += [f"**{_JOBS[job]}**, {model}", "", *_table([row for row in rows if row.job == job]), ""]
    return "\n".join([*parts, *(f"- {sentence}" for sentence in _conditions(report))])


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|"]
    start = rows[0].p50_ms
    for row in rows:
        if row.why_not:
            why = " ".join(row.why_not.split()).replace("|", "/")  # a bar would end the cell
            lines.append(f"| {row.what} | does not run here: {why} |" + " |" * (len(_COLUMNS) - 2))
            continue
        times = f"{start.median / row.p50_ms.median:.3g}x" if start and row.p50_ms else "-"
        spreads = (row.load_s, row.first_ms, row.p50_ms, times, row.per_second, row.peak_mb or "-", row.held_mb or "-")
        lines.append(f"| {row.what} | {' | '.join(map(str, spreads))} | {row.right} of {row.answers} |")
    return lines


def _conditions(report: Json) -> list[str]:
    hardware, sizes = report["hardware"], report["sizes"]
    return [
        f"Hardware: {hardware['processor']} ({', '.join(hardware['features'])}), {hardware['cores_used']} cores used, "
        f"{hardware['memory_gb']} GB; memory reads {report['memory_read_gb_s']} GB/s. No GPU is used. "
        f"Load average before: {report['load_average']}.",
        "Software: " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()) + ".",
        f"Medians of {sizes['repeats']} repeats (lowest-highest), of the first four rows {sizes['slow_repeats']}, in "
        f"turns, each in a process of its own with an empty `COPYDESK_HOME`; seed {report['seed']}; "
        f"{report['seconds']} s in all.",
        f"Each repeat asks {sizes['one_by_one']} questions one by one (the first four rows {sizes['slow']}); where a "
        f"row takes several, {sizes['at_once']} at once too. Answers may have {sizes['guide_tokens']} tokens until "
        "`parameters` fits that to the job. `times faster`: the first row's P50 over the row's own.",
    ]
