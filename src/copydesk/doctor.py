"""What copydesk finds on this machine, and what it would choose and why.

Knows no texts and no tasks. Whatever is missing is part of the report, never an error.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Unpack

from copydesk import __version__
from copydesk.engines.choose import check_name, choose, is_whole
from copydesk.engines.cuda.device import why_not as why_not_cuda
from copydesk.engines.options import REMOTE, EngineOptions, given_options
from copydesk.errors import CopydeskError, EngineError
from copydesk.hardware import examine_hardware
from copydesk.home import home, why_not_writable
from copydesk.models.config import ModelConfig
from copydesk.models.resolve import resolve
from copydesk.trial import try_model
from copydesk.types import Json

_NEEDS = {
    "openvino": (("openvino",), "pip install copydesk"),
    "cuda": (("torch", "triton"), "pip install 'copydesk[cuda]'"),
    "llamacpp": (("xllamacpp",), "pip install 'copydesk[llamacpp]'"),
    "transformers": (("transformers", "torch", "accelerate"), "pip install 'copydesk[transformers]'"),
    "vllm": (("vllm",), "pip install 'copydesk[vllm]'"),
}
"""By engine: the distributions that it needs, the one that matters first, and the command that installs them."""


def examine(
    model: str | None = None, engine: str = "auto", *, load: bool = False, **options: Unpack[EngineOptions]
) -> Json:
    """The report, for `model`, `engine` and its options as on the command line. `chosen` has `error` if nothing works.

    With `load` the chosen model is loaded and reads a prompt, and `chosen` says what that took; without, only whether
    its files and its engine are there.
    """
    return {
        "copydesk": __version__,
        "hardware": examine_hardware(),
        "engines": {name: _engine(name) for name in _NEEDS},
        "models": [_builtin(), *_hub_models()],
        "folders": [_folder("state", home()), _folder("hub", _hub())],
        "chosen": _chosen(model, engine, load, options),
    }


def _engine(name: str) -> Json:
    distributions, command = _NEEDS[name]
    try:
        versions = [importlib.metadata.version(distribution) for distribution in distributions]
    except importlib.metadata.PackageNotFoundError as error:
        return {"available": False, "why": f"{error.name or error} is not installed: {command}"}
    why_not = why_not_cuda() if name == "cuda" else None
    return {"available": True, "version": versions[0]} if why_not is None else {"available": False, "why": why_not}


def _builtin() -> Json:
    try:
        folder = resolve(None)
        config = ModelConfig.read(folder)
    except CopydeskError as error:
        return {"name": "copydesk-nano", "available": False, "why": str(error)}
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return {"name": config.name, "available": True, "folder": str(folder), "mb": round(size / 1e6, 1)}


def _hub() -> Path:
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def _hub_models() -> list[Json]:
    """Models that were fetched from Hugging Face before, whole or in part."""
    folders = sorted(_hub().glob("models--*"))
    return [{"name": "/".join(folder.name.split("--")[1:]), "folder": str(folder)} for folder in folders]


def _folder(kind: str, path: Path) -> Json:
    reason = why_not_writable(path)
    return {"kind": kind, "path": str(path), "writable": reason is None} | ({} if reason is None else {"why": reason})


def _chosen(model: str | None, engine: str, load: bool, options: EngineOptions) -> Json:
    try:
        place = str(model or "the server's own") if is_whole(engine) else str(resolve(model))
        name = choose(resolve(model)) if engine == "auto" else engine
        if not is_whole(name):
            check_name(name)
        given_options(REMOTE if "://" in name else name, options)
        chosen: Json = {"model": place, "engine": name, "why": _why(name) if engine == "auto" else "asked for"}
        if load:
            return chosen | try_model(model, engine, **options)
        found = _engine(name) if name in _NEEDS else {"available": True}
        if not found["available"]:
            raise EngineError(f"the {name} engine cannot run here: {found['why']}", code="missing_extra")
    except CopydeskError as error:
        return {"error": {"code": error.code, "message": str(error)}}
    return chosen


def _why(engine: str) -> str:
    """Why `auto` takes it."""
    return {
        "llamacpp": "its files are GGUF",
        "cuda": "its files are safetensors, and there is a GPU",
        "transformers": "its architecture is one that only Transformers runs",
    }.get(engine, "its files are safetensors")
