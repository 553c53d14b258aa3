"""Writes the built-in model's folder: 8-bit weights with a power of two a row, configuration, tokenizer files.

The weights' format is that of `models.weights`. Knows nothing of training.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from copydesk.models.tokenizer import read_tokenizer_json
from copydesk.models.weights import write_quantized
from copydesk.training.network import Shape

_COPIED = ("tokenizer_config.json", "chat_template.jinja", "LICENSE", "NOTICE")
QUANTIZATION = {"quant_method": "copydesk", "bits": 8, "scale": "power_of_two_per_row"}


def write_nano(
    folder: Path,
    weights: Mapping[str, Tensor],
    shape: Shape,
    tokenizer: Path,
    eos_token_ids: Sequence[int],
    tasks: Sequence[str],
) -> int:
    """Quantises `weights` (Hugging Face names, float32) into `folder`; returns the folder's size in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    write_quantized(folder, {name: weight.float().cpu().numpy() for name, weight in weights.items()})
    # The folder ships inside the package, where every megabyte counts; without a time stamp, equal inputs pack equally.
    packed = gzip.compress(read_tokenizer_json(tokenizer).encode(), compresslevel=9, mtime=0)
    (folder / "tokenizer.json.gz").write_bytes(packed)
    for name in _COPIED:
        if (tokenizer / name).is_file():
            shutil.copyfile(tokenizer / name, folder / name)
    _write(folder / "config.json", shape.to_config(eos_token_ids[0]) | {"quantization_config": QUANTIZATION})
    _write(folder / "generation_config.json", {"do_sample": False, "eos_token_id": list(eos_token_ids)})
    _write(folder / "copydesk.json", {"name": "copydesk-nano", "tasks": list(tasks), "calibration": {}})
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
