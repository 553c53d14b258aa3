"""What a measured process wants of whatever answers. Knows nothing of how that is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from copydesk.bench.engines.questions import Job


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and when its first token was there."""

    text: str
    first_at: float
    """As `time.perf_counter` has it."""


class Answering(Protocol):
    """Answers questions, with what it needs loaded. Close it in the end."""

    def answer(self, job: Job, text: str) -> Reply:
        """One question."""

    def answer_all(self, job: Job, texts: Sequence[str]) -> list[str]:
        """Several at once, in order."""

    def warm_up(self, job: Job, text: str) -> None:
        """Whatever only a first question takes."""

    def load_seconds(self) -> float:
        """What loading took beyond making this object."""

    def server(self) -> int | None:
        """The process that holds the model, if it is another."""

    def close(self) -> None: ...


def memory_mb(process: int | None = None) -> tuple[float | None, float | None]:
    """Resident memory of a process (default: this one), files mapped into it included, in 10**6 bytes: at its highest
    and now; None where it is not told.

    Not by `getrusage`, which counts what the parent held when it started the process.
    """
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text(encoding="utf-8")
    except OSError:
        return None, None
    return _megabytes(status, "VmHWM"), _megabytes(status, "VmRSS")


def _megabytes(status: str, name: str) -> float | None:
    found = re.search(rf"^{name}:\s*(\d+) kB$", status, re.MULTILINE)
    return round(int(found[1]) * 1024 / 1e6, 1) if found else None
