"""Fixtures that several test files use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from copydesk.engines.cuda.device import driver_capabilities
from law_cases import cases
from tiny_model import write_tiny_model

# PyTorch's threads wait for each other at every small tensor: on a busy machine that takes twenty times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if not driver_capabilities():  # without a GPU, Triton's kernels run in its interpreter, which it asks when imported
    os.environ.setdefault("TRITON_INTERPRET", "1")

if cases(0):  # a long run, likely on a busy machine
    settings.register_profile("long", max_examples=cases(0), deadline=None)
    settings.load_profile("long")


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the state of this test run, so that no test reads or writes the user's."""
    folder = tmp_path_factory.mktemp("copydesk-home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COPYDESK_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small random model."""
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")
