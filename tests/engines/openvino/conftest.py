"""Engines over one small random model, in every way that the OpenVINO engine keeps its KV cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from copydesk.engines.openvino import OpenVinoEngine, engine, load
from copydesk.errors import EngineError
from engines.random_folders import Shape, write_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Qwen3-shaped model in the built-in model's own form."""
    return write_folder(tmp_path_factory.mktemp("models") / "random", Shape(), "nano")


@pytest.fixture(scope="session", params=["paged", "stateful"])
def any_engine(request: pytest.FixtureRequest, folder: Path) -> Iterator[OpenVinoEngine]:
    """The exact engine, once as it should be and once as it falls back. Tests leave no sequence open."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "stateful":
            patch.setattr(engine, "check", refuse)
        loaded = load(folder)
    yield loaded
    loaded.close()


def refuse(*_: object) -> None:
    """A self-test that fails."""
    raise EngineError("it was told to fail")
