"""What is missing is named with the command that installs it; what is set is put back, or was the user's."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError

import pytest
import torch
from transformers.utils import logging

from copydesk.engines.transformers import installed
from copydesk.engines.transformers.installed import check_installed, prepare, silence
from copydesk.errors import EngineError


@pytest.mark.parametrize("package", ["torch", "transformers", "accelerate"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == package:
            raise PackageNotFoundError(name)
        return "5.0.0"

    monkeypatch.setattr(installed, "version", version)
    with pytest.raises(EngineError, match=rf"needs {package}, .* pip install 'copydesk\[transformers\]'") as caught:
        check_installed()
    assert caught.value.code == "missing_extra"


def test_an_old_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "version", lambda name: "4.57.1")
    with pytest.raises(EngineError, match=r"transformers 4\.57\.1 is too old"):
        check_installed()


def test_variables_that_are_set_stay_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY", raising=False)
    prepare(None)
    assert (os.environ["TOKENIZERS_PARALLELISM"], os.environ["HF_HUB_DISABLE_TELEMETRY"]) == ("true", "1")


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    try:
        prepare(3)
        assert torch.get_num_threads() == 3
        monkeypatch.setenv("OMP_NUM_THREADS", "5")  # PyTorch has read it when it was imported
        prepare(None)
        assert torch.get_num_threads() == 3
        monkeypatch.delenv("OMP_NUM_THREADS")
        monkeypatch.setattr(installed, "available_cores", lambda: 2)
        prepare(None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_silence_ends(recwarn: pytest.WarningsRecorder) -> None:
    logging.set_verbosity_info()
    try:
        with silence():
            assert not logging.is_progress_bar_enabled()
            assert logging.get_verbosity() > logging.ERROR
            warnings.warn("a remark", FutureWarning, stacklevel=1)
        assert logging.is_progress_bar_enabled()
        assert logging.get_verbosity() == logging.INFO
        assert not recwarn.list
        warnings.warn("another", FutureWarning, stacklevel=1)
        assert len(recwarn.list) == 1
    finally:
        logging.set_verbosity_warning()


def test_neither_library_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, copydesk.engines.transformers as engine, copydesk.engines.choose\n"
        "print({'torch', 'transformers', 'accelerate'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
