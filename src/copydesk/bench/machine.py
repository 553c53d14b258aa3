"""The machine a benchmark ran on, the software on it, and its physical limit: how fast memory can be read.

Knows nothing of what is measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from copydesk.engines.cores import available_cores
from copydesk.hardware import examine_hardware
from copydesk.types import Json

_PACKAGES = ("copydesk", "openvino", "llguidance", "tokenizers", "numpy", "xllamacpp", "gguf")
_BYTES = 2**30
"""Read to measure memory: far more than caches hold."""
_TIMES = 5


def examine() -> Json:
    """Hardware, versions, memory's reading speed in GB/s, and how busy the machine was before (load average)."""
    return {
        "hardware": examine_hardware() | {"cores_used": available_cores()},
        "versions": versions(_PACKAGES),
        "memory_read_gb_s": round(memory_read_gb_s(_BYTES), 1),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def memory_read_gb_s(size: int) -> float:
    """GB (10**9 bytes) a second that all cores together read at best, by summing an array of `size` bytes."""
    threads = available_cores()
    parts = np.array_split(np.ones(max(1, size // 8), np.uint64), threads)
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_TIMES):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            best = min(best, time.perf_counter() - start)
    return sum(part.nbytes for part in parts) / best / 1e9


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Of those packages that are installed."""
    return {name: found for name in packages if (found := _version(name)) is not None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
