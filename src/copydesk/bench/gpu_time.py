"""Where the time of answers goes: kernels, copies between host and GPU, and what is left, the host.

Kernels and copies are counted in this process, where the engine is. Knows nothing of what is run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds an answer."""

    host_ms: float
    """Of the wall's time, when the GPU had nothing to do."""
    copies_ms: float
    kernels_ms: float


def spent(run: Callable[[], object], answers: int) -> Spent:
    """Of one run with so many answers, under PyTorch's profiler, which slows the host a little."""
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        begun = time.perf_counter()
        run()
        wall = time.perf_counter() - begun
    copies = kernels = 0.0
    for event in profiler.key_averages():
        if event.device_type != DeviceType.CUDA:
            continue
        if event.key.startswith(("Memcpy", "Memset")):
            copies += event.self_device_time_total
        else:
            kernels += event.self_device_time_total
    busy = (copies + kernels) / 1e6
    return Spent(1e3 * max(0.0, wall - busy) / answers, copies / 1e3 / answers, kernels / 1e3 / answers)
