"""OpenVINO is imported without its telemetry, and given the cores that the process really has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.openvino.runtime import EXACT, compile_model, ops, ov, to_paged
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


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_process_survives_signals_after_its_models_are_closed(tiny_model: Path) -> None:
    program = f"""
import os, signal
from copydesk import load
first, second = load({str(tiny_model)!r}, learn=False), load({str(tiny_model)!r}, learn=False)
first.close()
second.close()
signal.signal(signal.SIGTERM, lambda *_: print("told"))
os.kill(os.getpid(), signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "told\n"), done.stderr
