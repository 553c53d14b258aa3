"""What is found out about a machine, and that finding nothing is no failure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from copydesk import hardware

INTEL = """processor\t: 0
model name\t: Example(R) Gold 1
flags\t\t: fpu avx2 amx_int8

processor\t: 1
model name\t: Another
flags\t\t: fpu
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd i8mm\n"


def test_this_machine_has_cores() -> None:
    facts = hardware.examine_hardware()
    assert 1 <= facts["cores_allowed"] <= facts["cores"]
    assert facts["processor"]


@pytest.mark.parametrize(
    ("content", "name", "flags"),
    [
        (INTEL, "Example(R) Gold 1", {"fpu", "avx2", "amx_int8"}),
        (ARM, "", {"fp", "asimd", "i8mm"}),
        ("", "", set()),
        (None, "", set()),
    ],
)
def test_the_first_processor_is_read(tmp_path: Path, content: str | None, name: str, flags: set[str]) -> None:
    path = tmp_path / "cpuinfo"
    if content is not None:
        path.write_text(content)
    assert hardware._processor(path) == (name, flags)


def test_memory_is_unknown_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert hardware._memory_gb() is None


@pytest.mark.parametrize(
    ("script", "cards"),
    [("echo 'NVIDIA H200, 143771 MiB'", ["NVIDIA H200, 143771 MiB"]), ("exit 9", []), (None, [])],
)
def test_cards_are_what_the_drivers_command_lists(
    tmp_path: Path, script: str | None, cards: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "nvidia-smi"
    if script is not None:
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(command) if command.exists() else None)
    assert hardware._gpus() == cards
