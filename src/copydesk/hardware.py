"""What this machine is: processor, cores, memory, graphics cards. Knows nothing of engines.

Whatever cannot be found out is left out or empty; nothing here fails.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from copydesk.types import Json

_FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16", "asimd", "i8mm", "bf16")
"""Instructions that matter to a language model, as Linux names them, those of Arm last."""


def examine_hardware() -> Json:
    """Processor with its features, cores in all and for this process, memory in GB, NVIDIA cards if there are any."""
    name, features = _processor(Path("/proc/cpuinfo"))
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "processor": name or platform.processor() or platform.machine(),
        "features": [feature for feature in _FEATURES if feature in features],
        "cores": os.cpu_count(),
        "cores_allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": _memory_gb(),
        "gpus": _gpus(),
    }


def _processor(cpuinfo: Path) -> tuple[str, frozenset[str]]:
    """Name and flags of the first processor that Linux lists; empty elsewhere."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "", frozenset()
    facts: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    flags = facts.get("flags") or facts.get("Features") or ""
    return facts.get("model name", ""), frozenset(flags.split())


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):  # no such call, or no such name: Windows
        return None


def _gpus() -> list[str]:
    """Name and memory of each NVIDIA card, as its driver's own command prints them."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    try:
        listed = subprocess.run(
            [command, "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in listed.stdout.splitlines() if line.strip()]
