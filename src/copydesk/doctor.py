"""What copydesk finds on this machine, and what it would choose: the chosen model is really loaded.

Knows no texts and no tasks. Whatever is missing is part of the report, never an error.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from time import perf_counter

from copydesk import __version__
from copydesk.engines.choose import choose, load_engine
from copydesk.errors import CopydeskError
from copydesk.hardware import examine_hardware
from copydesk.home import home, why_not_writable
from copydesk.models.config import ModelConfig
from copydesk.models.resolve import resolve
from copydesk.types import Json

_ENGINES = {
    "openvino": ("openvino", "pip install copydesk"),
    "llamacpp": ("xllamacpp", "pip install 'copydesk[llamacpp]'"),
}
"""By engine: the distribution that it needs, and the command that installs it."""


def examine(model: str | None = None, engine: str = "auto") -> Json:
    """The report, for `model` and `engine` as on the command line. `chosen` has `error` if nothing would work."""
    return {
        "copydesk": __version__,
        "hardware": examine_hardware(),
        "engines": {name: _engine(*needs) for name, needs in _ENGINES.items()},
        "models": [_builtin(), *_hub_models()],
        "folders": [_folder("state", home()), _folder("hub", _hub())],
        "chosen": _chosen(model, engine),
    }


def _engine(distribution: str, command: str) -> Json:
    try:
        return {"available": True, "version": importlib.metadata.version(distribution)}
    except importlib.metadata.PackageNotFoundError:
        return {"available": False, "why": f"{distribution} is not installed: {command}"}


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


def _chosen(model: str | None, engine: str) -> Json:
    try:
        folder = resolve(model)
        name = choose(folder) if engine == "auto" else engine
        start = perf_counter()
        loaded = load_engine(engine, folder)
        seconds = perf_counter() - start
        loaded.close()
    except CopydeskError as error:
        return {"error": {"code": error.code, "message": str(error)}}
    by_files = "its files are GGUF" if name == "llamacpp" else "its files are safetensors"
    return {
        "model": str(folder),
        "engine": name,
        "why": by_files if engine == "auto" else "asked for",
        "context_length": loaded.context_length,
        "load_s": round(seconds, 2),
        "notes": list(getattr(loaded, "notes", ())),
    }
