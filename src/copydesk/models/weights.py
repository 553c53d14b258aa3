"""A model folder's weights by their Hugging Face names, mapped from disk and never copied.

Reads ordinary safetensors folders (one file, or several with an index) and the built-in model's own 8-bit format:
int8 rows `[out, in]`, each with a power of two, so that every value is exactly a bfloat16. Knows no architecture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import ModelError
from copydesk.models.config import read_json
from copydesk.models.tensorfile import Dtype, Stored, read_tensors, write_tensors

SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
EXPONENT = "_exponent"
"""What the name of a quantised tensor's exponents ends in, after the tensor's own name."""
LARGEST = 127


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """One weight: `array` as stored (bf16 as uint16), and for int8 an exponent a row: `value = int8 * 2**exponent`."""

    array: NDArray[np.generic]
    dtype: Dtype
    exponents: NDArray[np.int8] | None = None

    def float32(self) -> NDArray[np.float32]:
        """The values, de-quantised, as a float32 array of the same shape (the stored array itself if it is one)."""
        if self.dtype == "bf16":
            return (self.array.astype(np.uint32) << 16).view(np.float32)
        values = self.array.astype(np.float32, copy=False)
        return values if self.exponents is None else np.ldexp(values, self.exponents[:, None].astype(np.int32))

    def bf16(self) -> NDArray[np.uint16]:
        """The values rounded to bfloat16 (ties to even), as a uint16 array of the same shape; exact for int8."""
        if self.dtype == "bf16":
            return self.array.astype(np.uint16, copy=False)
        return to_bf16(self.float32())


class Weights(Mapping[str, Tensor]):
    """The weights in a folder. Exponents belong to their tensors and are not listed by themselves."""

    def __init__(self, folder: Path) -> None:
        """Read the headers of the folder's files.

        Errors: `ModelError` `model_invalid` for missing, half-downloaded or damaged files, `model_unsupported` for
        tensor types that cannot be read.
        """
        self.folder = folder
        stored: dict[str, Stored] = {}
        for path in weight_files(folder):
            stored |= read_tensors(path)
        self._tensors = {name: _tensor(folder, name, stored) for name in stored if not name.endswith(EXPONENT)}

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that make up the model. Errors: `ModelError` `model_invalid` when some are missing."""
    index = folder / INDEX_FILE
    if index.is_file() and not (folder / SINGLE_FILE).is_file():
        shards = read_json(index).get("weight_map")
        if not isinstance(shards, dict):
            raise ModelError(f"{index} has no weight_map; fetch the model again", code="model_invalid")
        if not all(isinstance(name, str) and Path(name).name == name for name in shards.values()):
            raise ModelError(
                f"{index}: its weight_map must name files of this folder; fetch the model again", code="model_invalid"
            )
        files = [folder / name for name in sorted(set(shards.values()))]
    else:
        files = [folder / SINGLE_FILE]
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise ModelError(
            f"{folder} was not downloaded in full: it lacks {', '.join(missing)}; fetch the model again",
            code="model_invalid",
        )
    return files


def quantize_rows(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """int8 `[out, in]` and int8 exponents `[out]` with `values ~ int8 * 2**exponent`, for float32 `[out, in]`
    of magnitudes up to 2**126.

    Each row's exponent is the least with which no value of it is clipped.
    """
    mantissa, exponent = np.frexp(np.abs(values).max(axis=1, initial=0) / np.float32(LARGEST))
    exponent = np.clip(exponent - (mantissa == 0.5), -126, 127)
    scaled = np.rint(np.ldexp(values, -exponent[:, None]))
    return np.clip(scaled, -LARGEST, LARGEST).astype(np.int8), exponent.astype(np.int8)


def write_quantized(folder: Path, tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write `model.safetensors` in the 8-bit format: matrices by `quantize_rows`, vectors as bfloat16."""
    stored: dict[str, Stored] = {}
    for name, values in tensors.items():
        if values.ndim == 2:
            rows, exponents = quantize_rows(values)
            stored[name] = "i8", rows
            stored[name + EXPONENT] = "i8", exponents
        else:
            stored[name] = "bf16", to_bf16(values)
    write_tensors(folder / SINGLE_FILE, stored)


def to_bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest bfloat16 of finite float32 values (ties to even), as their bits."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _tensor(folder: Path, name: str, stored: Mapping[str, Stored]) -> Tensor:
    dtype, array = stored[name]
    exponents = stored[name + EXPONENT][1] if name + EXPONENT in stored else None
    if (dtype == "i8") != (exponents is not None) or (exponents is not None and exponents.shape != array.shape[:1]):
        raise ModelError(
            f"{folder}: {name} and its exponents do not match; fetch the model again", code="model_invalid"
        )
    return Tensor(array, dtype, exponents)
