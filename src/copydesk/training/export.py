"""The built-in model's folder as an ordinary Hugging Face folder, which Transformers and vLLM load as it is.

De-quantising loses nothing: every value of the 8-bit format is exactly a bfloat16. Needs no PyTorch.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig, read_json
from copydesk.models.tensorfile import write_tensors
from copydesk.models.tokenizer import read_tokenizer_json
from copydesk.models.weights import SINGLE_FILE, Weights

_COPIED = ("tokenizer_config.json", "generation_config.json", "chat_template.jinja", "README.md", "LICENSE", "NOTICE")


def export_hugging_face(source: Path, destination: Path) -> None:
    """Write the 8-bit model in `source` to `destination` with bf16 weights; whole, or not at all.

    Errors: `ModelError` when `source` is no such model, `UsageError` when `destination` holds something already or
    cannot be written.
    """
    ModelConfig.read(source)
    config = read_json(source / "config.json")
    if config.pop("quantization_config", None) is None:
        raise ModelError(
            f"{source} holds unquantised weights: it is a Hugging Face folder already; copy it",
            code="model_unsupported",
        )
    weights = Weights(source)
    _refuse_occupied(destination)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=destination.parent, prefix=f".{destination.name}-") as name:
            part = Path(name) / "part"
            part.mkdir()
            _write_json(part / "config.json", config | {"torch_dtype": "bfloat16"})
            write_tensors(part / SINGLE_FILE, {key: ("bf16", tensor.bf16()) for key, tensor in weights.items()})
            (part / "tokenizer.json").write_text(read_tokenizer_json(source), encoding="utf-8")
            for file in _COPIED:
                if (source / file).is_file():
                    shutil.copyfile(source / file, part / file)
            if destination.is_dir():
                destination.rmdir()  # it is empty, and some systems do not rename onto a folder
            part.rename(destination)
    except OSError as error:
        raise UsageError(f"{destination} cannot be written: {error.strerror or error}; give another folder") from error


def _refuse_occupied(destination: Path) -> None:
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} holds something already; give a new or an empty folder")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
