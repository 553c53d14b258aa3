"""From what a caller calls a model (nothing, a folder, a hub id) to a folder that holds one.

Looks at which files are there, not into them.
"""

from __future__ import annotations

import re
from pathlib import Path

from copydesk.errors import ModelError
from copydesk.models.weights import weight_files

BUILTIN = "copydesk-nano"
"""Name of the model that comes with the package."""
BUILTIN_FOLDER = Path(__file__).parent / "nano"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def resolve(name: str | None) -> Path:
    """The folder of the model called `name`: the built-in one by default, a path to a folder, or a hub id `owner/name`.

    A GGUF file, and a folder that holds one instead of safetensors, are taken as they are.
    Errors: `ModelError` `model_not_found` when there is none, `model_invalid` for a folder that is empty, no model
    folder, or not downloaded in full.
    """
    if name is None or name == BUILTIN:
        check_folder(BUILTIN_FOLDER)
        return BUILTIN_FOLDER
    try:
        folder = Path(name).expanduser()
    except RuntimeError as error:  # ~user of nobody
        raise ModelError(f"there is no model {name!r}: nobody here has that home folder") from error
    if name and folder.exists():
        if not is_gguf(folder):
            check_folder(folder)
        return folder
    if not _HUB_ID.fullmatch(name) or name.startswith("."):
        raise ModelError(
            f"there is no model {name!r}: it is no folder, nor a hub id such as Qwen/Qwen3-0.6B, nor {BUILTIN}"
        )
    from copydesk.models.hub import fetch

    fetched = fetch(name, _is_complete)
    check_folder(fetched)
    return fetched


def is_gguf(path: Path) -> bool:
    """Whether the model at `path` is a GGUF file, or a folder that holds one instead of safetensors."""
    if path.is_dir():
        return any(path.glob("*.gguf")) and not any(path.glob("*.safetensors"))
    return path.suffix == ".gguf"


def check_folder(folder: Path) -> None:
    """Refuse a folder that lacks a file without which no model can be loaded. Errors: `ModelError` `model_invalid`."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise ModelError(f"{folder} {what}, not a model folder; give a folder with --model DIR", code="model_invalid")
    if not any(folder.iterdir()):
        raise ModelError(f"{folder} is empty; give the folder that holds config.json", code="model_invalid")
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"{folder} is no model folder: it has no config.json; give the folder that holds it", code="model_invalid"
        )
    if not any((folder / file).is_file() for file in ("tokenizer.json", "tokenizer.json.gz")):
        raise ModelError(
            f"{folder} was not downloaded in full: it lacks tokenizer.json; fetch the model again", code="model_invalid"
        )
    weight_files(folder)


def _is_complete(folder: Path) -> bool:
    try:
        check_folder(folder)
    except ModelError:
        return False
    return True
