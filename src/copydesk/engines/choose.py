"""Which engine opens a model: the one asked for, or the one that its files are for.

Engines are imported only when chosen. Knows no engine's workings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from copydesk.engines.protocol import Engine
from copydesk.errors import ModelError, UsageError
from copydesk.models.resolve import is_gguf

NAMES = ("openvino", "llamacpp")
"""The engines that `load_engine` knows, beside `auto`."""
BITS = (4, 8, 16)
"""How many bits a weight may be compressed to; 16 leaves it as it is."""


def load_engine(
    engine: str,
    folder: Path,
    *,
    bits: Literal[4, 8, 16] | None = None,
    exact: bool | None = None,
    context_length: int | None = None,
    threads: int | None = None,
) -> Engine:
    """The engine named `engine` over the model at `folder`, a folder or a `.gguf` file.

    `auto` takes llama.cpp for GGUF and OpenVINO for everything else. `bits`, `exact`, `context_length` (tokens) and
    `threads` as the engine's own `load` takes them; None leaves them to it.
    Errors: `UsageError` for an unknown name, a senseless option or one that the engine has not, `EngineError` when the
    engine is not installed or cannot run the model, `ModelError` for the folder.
    """
    if bits not in (None, *BITS):
        raise UsageError(f"bits is {', '.join(map(str, BITS))} or None, not {bits!r}")
    for name, number in (("context_length", context_length), ("threads", threads)):
        if number is not None and (type(number) is not int or number < 1):
            raise UsageError(f"{name} is a whole number from 1 up or None, not {number!r}")
    chosen = choose(folder) if engine == "auto" else engine
    if chosen == "openvino":
        from copydesk.engines import openvino

        return openvino.load(folder, bits=bits, exact=exact, context_length=context_length, threads=threads)
    if chosen == "llamacpp":
        from copydesk.engines import llamacpp
        from copydesk.engines.llamacpp.interface import check_installed

        if bits is not None or exact is not None:
            raise UsageError("a GGUF file has its precision in it; leave bits and exact out with the llamacpp engine")
        check_installed()  # before the file: without the engine, no file would do
        return llamacpp.load(gguf_file(folder), context_length=context_length, threads=threads)
    raise UsageError(f"there is no engine {engine!r}; choose auto, {' or '.join(NAMES)}")


def choose(folder: Path) -> str:
    """The name of the engine that `auto` takes for the model at `folder`."""
    return "llamacpp" if is_gguf(folder) else "openvino"


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
