"""How many threads, or processes, are worth starting: the cores that this process may use. Knows no engine."""

from __future__ import annotations

import os
from pathlib import Path

_CONTROL_GROUP = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """Physical cores in the process's affinity, no more than its control group's quota allows."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, os.cpu_count() or 1)
    cores = len({_core(cpu) for cpu in os.sched_getaffinity(0)})
    return max(1, min(cores, quota(_CONTROL_GROUP) or cores))


def available_processors() -> int:
    """Logical processors in the process's affinity, no more than its control group's quota allows.

    Two on one core help where, as with Python, one alone does not keep it busy.
    """
    if not hasattr(os, "sched_getaffinity"):
        return max(1, os.cpu_count() or 1)
    processors = len(os.sched_getaffinity(0))
    return max(1, min(processors, quota(_CONTROL_GROUP) or processors))


def quota(file: Path) -> int | None:
    """Processors that a control group's `cpu.max` allows, rounded up; None when it sets no limit."""
    try:
        limit, period = file.read_text().split()
        return None if limit == "max" else -(-int(limit) // int(period))
    except (OSError, ValueError):
        return None


def _core(cpu: int) -> str:
    """Which core a logical processor belongs to, as the list of the processors on it."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)
