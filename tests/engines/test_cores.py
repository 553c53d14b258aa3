"""The cores that the process really has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from copydesk.engines import cores
from copydesk.engines.cores import available_cores, available_processors, quota


def test_there_is_a_core_and_no_more_than_the_machine_has() -> None:
    assert 1 <= available_cores() <= available_processors() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_bounds_them() -> None:
    program = (
        "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from copydesk.engines.cores import available_cores, available_processors\n"
        "print(available_cores(), available_processors())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 1\n"


@pytest.mark.parametrize(("content", "expected"), [("150000 100000\n", 2), ("max 100000\n", None), ("?", None)])
def test_a_control_groups_quota(content: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(content)
    assert quota(tmp_path / "cpu.max") == expected


def test_no_control_group_is_no_quota(tmp_path: Path) -> None:
    assert quota(tmp_path / "cpu.max") is None


def test_a_quota_bounds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    monkeypatch.setattr(cores, "_CONTROL_GROUP", tmp_path / "cpu.max")
    assert available_cores() == available_processors() == 1
