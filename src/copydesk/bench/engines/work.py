"""What a measured process is told and what it reports, and the process itself. Knows nothing of what it measures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.ways import Way

MOST_SECONDS = 900.0
"""After which a process is given up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The texts of one job."""

    one_by_one: tuple[str, ...]
    """Each is timed."""
    at_once: tuple[str, ...]
    """Timed together, by ways that take several at once."""
    warm_up: str
    """Answered before the clock starts."""


@dataclass(frozen=True, slots=True)
class Work:
    """A way of answering, and what it is asked."""

    way: Way
    model: str
    """A folder, or a GGUF file."""
    jobs: dict[Job, Asked]
    guide_tokens: int
    """Longest answer of the ways that do not fit it to the job."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """One job. Milliseconds are in the order of the texts that were asked one by one."""

    answers: tuple[str, ...]
    """Of those one by one, then of those at once."""
    first_ms: tuple[float, ...]
    """To the first token that the caller got."""
    ms: tuple[float, ...]
    per_second: float
    """Answers: of those at once if the way takes several, else one by one."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a process reports."""

    load_s: float
    """From importing the libraries to being ready, or from starting the server."""
    peak_mb: float | None
    """Resident memory at its highest, in 10**6 bytes, files mapped into it included; a server's for those."""
    held_mb: float | None
    """The same after the last answer."""
    jobs: dict[Job, Answered]


@dataclass(frozen=True, slots=True)
class Cannot:
    """Why a way does not run here."""

    why: str


def run(work: Work, environment: Mapping[str, str]) -> Ran | Cannot:
    """Do `work` in a new process, with an empty home of its own. What goes wrong there is a `Cannot`."""
    with tempfile.TemporaryDirectory(prefix="copydesk-bench-") as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "copydesk.bench.engines.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={**environment, "COPYDESK_HOME": home},
            start_new_session=True,  # it and what it starts are ended together
        )
        try:
            said, messages = process.communicate(json.dumps(asdict(work)), timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return Cannot(f"took more than {MOST_SECONDS:.0f} s")
        finally:
            _end(process)
    if process.returncode:
        return Cannot(f"failed: {(messages.strip().splitlines() or [f'exit code {process.returncode}'])[-1]}")
    return TypeAdapter[Ran | Cannot](Ran | Cannot).validate_json(said)


def _end(process: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()
