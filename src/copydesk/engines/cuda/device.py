"""Whether there is a GPU that the engine can run on, found out without importing PyTorch, which takes seconds.

Asks the driver's own library. Knows nothing of models.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec

_INSTALL = "pip install 'copydesk[cuda]'"
_LEAST = (8, 0)
"""Compute capability from which on tensor cores multiply bfloat16."""
_MAJOR, _MINOR = 75, 76
"""`CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...` of the CUDA driver API."""


def why_not() -> str | None:
    """Why the engine cannot run here; None if it can."""
    capabilities = driver_capabilities()
    if not capabilities:
        return "no NVIDIA GPU was found (nvidia-smi shows what the driver sees)"
    if max(capabilities) < _LEAST:
        found, needed = (".".join(map(str, one)) for one in (max(capabilities), _LEAST))
        return f"the GPU has compute capability {found}, and {needed} is needed"
    for package in ("torch", "triton"):
        if find_spec(package) is None:
            return f"{package} is not installed: {_INSTALL}"
    return None


def driver_capabilities() -> list[tuple[int, int]]:
    """Compute capability of each GPU that the driver shows this process; empty without a driver."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    return [(_attribute(driver, _MAJOR, device), _attribute(driver, _MINOR, device)) for device in range(count.value)]


def _attribute(driver: ctypes.CDLL, attribute: int, device: int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    return value.value
