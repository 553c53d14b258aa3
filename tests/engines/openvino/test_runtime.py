"""OpenVINO is imported without its telemetry, and given the cores that the process really has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.openvino import runtime
from copydesk.engines.openvino.runtime import EXACT, available_cores, compile_model, ops, ov, to_paged
from copydesk.errors import EngineError


def test_telemetry_is_never_imported() -> None:
    program = (
        "import sys, copydesk.engines.openvino.runtime\n"
        "print([name for name in sys.modules if name.startswith('openvino_telemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_missing_openvino_says_what_to_install() -> None:
    program = (
        "import sys\nsys.modules['openvino'] = None\n"
        "from copydesk.errors import EngineError\n"
        "try:\n    import copydesk.engines.openvino.runtime\n"
        "except EngineError as error:\n    print(error.code, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "engine_unavailable" in done.stdout
    assert "pip install openvino==2026.4.1" in done.stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_bounds_the_cores() -> None:
    program = (
        "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from copydesk.engines.openvino.runtime import available_cores\nprint(available_cores())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(("content", "expected"), [("150000 100000\n", 2), ("max 100000\n", None), ("?", None)])
def test_a_control_groups_quota(content: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(content)
    assert runtime.quota(tmp_path / "cpu.max") == expected


def test_no_control_group_is_no_quota(tmp_path: Path) -> None:
    assert runtime.quota(tmp_path / "cpu.max") is None


def test_there_is_a_core() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def test_a_graph_without_attention_cannot_be_paged() -> None:
    parameter = ops.parameter([1], np.float32)
    with pytest.raises(EngineError, match="cannot page the attention") as caught:
        to_paged(ov.Model([parameter], [parameter], "none"))
    assert caught.value.code == "engine_unavailable"
    assert "\n" not in str(caught.value)


def test_a_setting_that_openvino_refuses() -> None:
    parameter = ops.parameter([1], np.float32)
    with pytest.raises(EngineError, match="cannot compile") as caught:
        compile_model(ov.Model([parameter], [parameter], "none"), EXACT, -3)
    assert caught.value.code == "engine_failed"
