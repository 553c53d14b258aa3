"""Whether there is a GPU, as the driver's library says."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from copydesk.engines.cuda import device


class Driver:
    """Answers as CUDA's driver library does."""

    def __init__(self, capabilities: list[tuple[int, int]], fails: bool = False) -> None:
        self.capabilities, self.fails = capabilities, fails

    def cuInit(self, _: int) -> int:  # noqa: N802
        return 100 if self.fails else 0

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = len(self.capabilities)
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, number: int) -> int:  # noqa: N802
        value._obj.value = self.capabilities[number][attribute - 75]
        return 0


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (Driver([]), "no NVIDIA GPU was found"),
        (Driver([(9, 0)], fails=True), "no NVIDIA GPU was found"),
        (Driver([(7, 5)]), "has compute capability 7.5, and 8.0 is needed"),
        (Driver([(7, 5), (9, 0)]), None),
    ],
)
def test_why_not(driver: Driver, reason: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    monkeypatch.setattr(device, "find_spec", lambda name: object())
    found = device.why_not()
    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_a_missing_package_is_named_with_its_command(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver([(8, 6)]))
    monkeypatch.setattr(device, "find_spec", lambda name: None if name == missing else object())
    assert device.why_not() == f"{missing} is not installed: pip install 'copydesk[cuda]'"


def test_no_driver_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", none)
    assert device.driver_capabilities() == []
