"""The built-in model's folder as an ordinary Hugging Face folder, which Transformers and vLLM load as it is.

Needs no PyTorch.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from copydesk.errors import ModelError, UsageError
from copydesk.models.config import ModelConfig
from copydesk.models.tokenizer import read_tokenizer_json
from copydesk.models.unpacked import is_packed, unpack

_COPIED = ("tokenizer_config.json", "generation_config.json", "chat_template.jinja", "README.md", "LICENSE", "NOTICE")


def export_hugging_face(source: Path, destination: Path) -> None:
    """Write the 8-bit model in `source` to `destination` with bf16 weights; whole, or not at all.

    Errors: `ModelError` when `source` is no such model, `UsageError` when `destination` holds something already or
    cannot be written.
    """
    ModelConfig.read(source)
    if not is_packed(source):
        raise ModelError(
            f"{source} holds unquantised weights: it is a Hugging Face folder already; copy it",
            code="model_unsupported",
        )
    _refuse_occupied(destination)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=destination.parent, prefix=f".{destination.name}-") as name:
            part = Path(name) / "part"
            part.mkdir()
            unpack(source, part)
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
