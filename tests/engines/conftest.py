"""Engines over one small random model, in every way that it can be run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from copydesk.engines import cuda
from copydesk.engines.openvino import engine as openvino_engine
from copydesk.engines.openvino import load
from copydesk.engines.protocol import Engine
from copydesk.engines.sharing.client import EngineClient
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ThreadHost
from copydesk.errors import EngineError
from engines.random_folders import Shape, write_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Qwen3-shaped model in the built-in model's own form."""
    return write_folder(tmp_path_factory.mktemp("models") / "random", Shape(), "nano")


@pytest.fixture(
    scope="session",
    params=[
        "openvino",
        "openvino without paged attention",
        "openvino behind a server",
        "llamacpp",
        "cuda's twin",
        "transformers",
    ],
)
def any_engine(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """An engine to try the laws on, of a vocabulary of 320 and a context of 512. Tests leave no sequence open."""
    engine: Engine
    if request.param == "llamacpp":
        engine = _llamacpp(tmp_path_factory.mktemp("gguf"))
    elif request.param == "transformers":
        engine = _transformers(folder)
    elif request.param == "cuda's twin":
        engine = cuda.load(folder, device="cpu", dtype="float32")
    else:
        with pytest.MonkeyPatch.context() as patch:
            if request.param == "openvino without paged attention":
                patch.setattr(openvino_engine, "check", refuse)
            engine = load(folder)
    if request.param == "openvino behind a server":
        host = ThreadHost(engine, 1)
        client = EngineClient(host.connections[0], Facts.of(engine))
        yield client
        client.close()
        host.close()
    else:
        yield engine
    engine.close()


def refuse(*_: object) -> None:
    """A self-test that fails."""
    raise EngineError("it was told to fail")


def _transformers(folder: Path) -> Engine:
    pytest.importorskip("accelerate", reason="copydesk[transformers] is not installed")
    from copydesk.engines import transformers

    return transformers.load(folder)


def _llamacpp(folder: Path) -> Engine:
    pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
    pytest.importorskip("gguf", reason="gguf is not installed")
    from copydesk.engines import llamacpp
    from engines.random_gguf import write_gguf

    return llamacpp.load(write_gguf(folder / "random.gguf", Shape()))
