"""Which engine opens a model: the one asked for, or the one that its files are for.

Engines are imported only when chosen. Knows no engine's workings.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from copydesk.engines.completions import Completions
from copydesk.engines.cuda.device import why_not as why_not_cuda
from copydesk.engines.options import NAMES, REMOTE, EngineOptions, given_options
from copydesk.engines.protocol import Engine
from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig
from copydesk.models.resolve import is_gguf, resolve

if TYPE_CHECKING:
    from copydesk.engines.loop import Loop


def load_engine(engine: str, folder: Path, **options: Unpack[EngineOptions]) -> Engine:
    """The engine named `engine` over the model at `folder`, a folder or a `.gguf` file.

    `auto` takes what `choose` does.
    Errors: `UsageError` for an unknown name, a senseless option or one that the engine has not, `EngineError` when the
    engine is not installed or cannot run the model, `ModelError` for the folder.
    """
    chosen = choose(folder) if engine == "auto" else engine
    check_name(chosen)
    given = given_options(chosen, options)
    if chosen == "llamacpp":
        from copydesk.engines import llamacpp
        from copydesk.engines.llamacpp.interface import check_installed

        check_installed()  # before the file: without the engine, no file would do
        return llamacpp.load(gguf_file(folder), **given)
    if chosen == "cuda":
        from copydesk.engines import cuda

        return cuda.load(folder, **given)
    if chosen == "transformers":
        from copydesk.engines import transformers

        return transformers.load(folder, **given)
    from copydesk.engines import openvino

    return openvino.load(folder, **given)


def check_name(engine: str) -> None:
    """Errors: `UsageError` unless there is an engine of this name that computes passes."""
    if engine not in NAMES or is_whole(engine):
        raise UsageError(f"there is no engine {engine!r}; choose auto, {', '.join(NAMES[:-1])} or {NAMES[-1]}")


def is_whole(engine: str) -> bool:
    """Whether the engine named so writes whole answers itself: vLLM, a server's address."""
    return engine == "vllm" or "://" in engine


def load_completions(engine: str, model: str | None, loop: Loop, **options: Unpack[EngineOptions]) -> Completions:
    """The engine named `engine`, one of those that write whole answers, over `model`. It runs in `loop`.

    Errors: as `load_engine`.
    """
    if engine == "vllm":
        from copydesk.engines import vllm
        from copydesk.engines.vllm.installed import find

        find()  # before the folder: without the engine, no folder would do
        return vllm.load(resolve(model), loop, **given_options("vllm", options))
    from copydesk.engines import remote

    return remote.load(engine, loop, model=model, **given_options(REMOTE, options))


def choose(folder: Path) -> str:
    """The name of the engine that `auto` takes for the model at `folder`.

    llama.cpp for GGUF; for architectures that only Transformers runs, that, if it is installed; for everything else our
    CUDA engine where there is a GPU for it, or OpenVINO.
    """
    if is_gguf(folder):
        return "llamacpp"
    if _is_foreign(folder) and find_spec("transformers") and find_spec("accelerate"):
        return "transformers"
    return "openvino" if why_not_cuda() else "cuda"


def _is_foreign(folder: Path) -> bool:
    """Whether the model is one that our own engines do not compute."""
    try:
        ModelConfig.read(folder)
    except ModelError as error:
        return error.code == "model_unsupported"
    return False


def gguf_file(path: Path) -> Path:
    """The GGUF file at `path` or, of a folder, the one in it. Errors: `ModelError` when there is none or several."""
    if path.suffix == ".gguf":
        return path
    files = sorted(path.glob("*.gguf"))
    if len(files) == 1:
        return files[0]
    found = ", ".join(file.name for file in files) or "none"
    raise ModelError(
        f"{path} should hold one .gguf file, found {found}; give the path of the file itself", code="model_invalid"
    )
