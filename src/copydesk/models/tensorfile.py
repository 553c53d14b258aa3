"""One safetensors file as memory-mapped NumPy arrays, and arrays as one such file.

The safetensors library gives NumPy no bfloat16 and no mapping, hence this. Knows nothing of models or quantisation.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from copydesk.errors import ModelError

Dtype = Literal["f32", "f16", "bf16", "i8"]
Stored = tuple[Dtype, np.ndarray]
"""A tensor's type and its values; bf16 values are a uint16 array of the same bits."""

_NUMPY: dict[Dtype, np.dtype[Any]] = {
    "f32": np.dtype("<f4"),
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "i8": np.dtype("i1"),
}
_NAMES: dict[str, Dtype] = {"F32": "f32", "F16": "f16", "BF16": "bf16", "I8": "i8"}
_WRITTEN = {ours: theirs for theirs, ours in _NAMES.items()}
_LONGEST_HEADER = 100_000_000  # the format's own limit


def read_tensors(path: Path) -> dict[str, Stored]:
    """The file's tensors by name, read-only, in the order in which they lie there. Nothing is read before it is used.

    Errors: `ModelError` `model_invalid` for a file that is missing, cut short or damaged, `model_unsupported` for a
    tensor type other than F32, F16, BF16 and I8.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            size = path.stat().st_size
            if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
                raise _damaged(path, "it has no safetensors header")
            header = json.loads(file.read(length))
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        header.pop("__metadata__", None)
        entries = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
        end = max((entry["data_offsets"][1] for _, entry in entries), default=0)
    except OSError as error:
        raise _damaged(path, str(error.strerror or error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, "its header is no safetensors header") from error
    if 8 + length + end != size:
        raise _damaged(path, f"it has {size:,} bytes where its header promises {8 + length + end:,}")
    return {name: _tensor(path, name, entry, mapped, 8 + length) for name, entry in entries}


def write_tensors(path: Path, tensors: Mapping[str, Stored]) -> None:
    """Write the tensors, in the order given, as one file that every safetensors reader understands."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, (dtype, array) in tensors.items():
        end = start + array.nbytes
        header[name] = {"dtype": _WRITTEN[dtype], "shape": list(array.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start at a multiple of 8 bytes
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for dtype, array in tensors.values():
            file.write(np.ascontiguousarray(array, dtype=_NUMPY[dtype]).data)


def _tensor(path: Path, name: str, entry: Mapping[str, Any], mapped: mmap.mmap, base: int) -> Stored:
    try:
        written, shape = entry["dtype"], tuple(map(int, entry["shape"]))
        start, end = map(int, entry["data_offsets"])
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise _damaged(path, f"its entry for {name} cannot be read") from error
    if written not in _NAMES:
        raise ModelError(
            f"{path}: {name} is stored as {written}, which cannot be read; use the model's bf16 weights",
            code="model_unsupported",
        )
    dtype = _NAMES[written]
    if not 0 <= start <= end or end - start != prod(shape) * _NUMPY[dtype].itemsize:
        raise _damaged(path, f"the size of {name} does not match its shape")
    return dtype, np.ndarray(shape, _NUMPY[dtype], buffer=mapped, offset=base + start)


def _damaged(path: Path, problem: str) -> ModelError:
    return ModelError(
        f"{path} is damaged or was not downloaded in full: {problem}; fetch it again", code="model_invalid"
    )
