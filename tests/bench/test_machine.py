"""What is said of the machine."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from copydesk.bench import machine


def test_memory_is_read_at_a_believable_speed() -> None:
    assert 0.1 < machine.memory_read_gb_s(2**22) < 10_000


def test_hardware_and_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_BYTES", 2**22)
    monkeypatch.setattr(machine, "_PACKAGES", ("numpy", "no-such-package"))
    found = machine.examine()
    assert json.loads(json.dumps(found)) == found
    assert found["versions"] == {"numpy": version("numpy")}
    assert found["hardware"]["cores_used"] >= 1
