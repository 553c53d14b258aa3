"""The 8-bit format written out as ordinary weights, for libraries that do not know it.

Nothing is lost: every value of the format is exactly a bfloat16. Knows no tokenizer and no library.
"""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import sha256
from pathlib import Path

from copydesk.errors import ModelError
from copydesk.models.config import read_json
from copydesk.models.tensorfile import Stored, write_tensors
from copydesk.models.weights import SINGLE_FILE, Weights, weight_files


def is_packed(folder: Path) -> bool:
    """Whether the model in `folder` is in the 8-bit format. Errors: `ModelError` for a folder without `config.json`."""
    settings = read_json(folder / "config.json").get("quantization_config")
    return isinstance(settings, dict) and settings.get("quant_method") == "copydesk"


def unpack(source: Path, destination: Path) -> None:
    """Write `config.json` and `model.safetensors` with bf16 weights to the folder `destination`.

    Errors: `ModelError` when `source` is damaged, `OSError` when `destination` cannot be written.
    """
    config = read_json(source / "config.json")
    config.pop("quantization_config", None)
    text = json.dumps(config | {"torch_dtype": "bfloat16"}, ensure_ascii=False, indent=2)
    (destination / "config.json").write_text(text + "\n", encoding="utf-8")
    tensors: dict[str, Stored] = {name: ("bf16", tensor.bf16()) for name, tensor in Weights(source).items()}
    write_tensors(destination / SINGLE_FILE, tensors)


def unpacked(source: Path, cache: Path) -> Path:
    """A folder with the weights written out: `source` itself if they are, else one below `cache`, made the first time.

    Errors: `ModelError` when `source` is damaged, or `cache` cannot be written.
    """
    if not is_packed(source):
        return source
    seen = [(str(file.resolve()), file.stat().st_mtime_ns, file.stat().st_size) for file in weight_files(source)]
    folder = cache / f"{source.resolve().name}-{sha256(repr(seen).encode()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".") as name:
            part = Path(name) / "part"
            part.mkdir()
            unpack(source, part)
            try:
                os.rename(part, folder)
            except OSError:
                if not folder.is_dir():  # as it is when another process was first
                    raise
    except OSError as error:
        raise ModelError(
            f"the weights of {source} cannot be written out to {cache}: {error.strerror or error}; "
            "set COPYDESK_HOME to a folder that can be written",
            code="model_unsupported",
        ) from error
    return folder
