"""Files that we write are safetensors, files that others write are read, damage is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from copydesk.errors import ModelError
from copydesk.models.tensorfile import read_tensors, write_tensors

RANDOM = np.random.default_rng(0)
ARRAYS = {
    "wide": RANDOM.standard_normal((3, 5)).astype(np.float32),
    "half": RANDOM.standard_normal(7).astype(np.float16),
    "bytes": RANDOM.integers(-128, 128, (2, 3)).astype(np.int8),
    "empty": np.zeros((0, 4), np.float32),
}


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(
        path,
        {
            "bytes": ("i8", ARRAYS["bytes"]),
            "wide": ("f32", ARRAYS["wide"].T),
            "half": ("f16", ARRAYS["half"]),
            "empty": ("f32", ARRAYS["empty"]),
        },
    )
    read = safetensors.numpy.load_file(path)
    assert read.keys() == ARRAYS.keys()
    np.testing.assert_array_equal(read["wide"], ARRAYS["wide"].T)
    np.testing.assert_array_equal(read["half"], ARRAYS["half"])
    np.testing.assert_array_equal(read["bytes"], ARRAYS["bytes"])
    assert read["empty"].shape == (0, 4)


def test_we_read_what_the_library_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file(ARRAYS, path, metadata={"format": "pt"})
    read = read_tensors(path)
    assert read.keys() == ARRAYS.keys()
    for name, (_, array) in read.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert not array.flags.writeable


def test_bf16_survives_as_its_bits(tmp_path: Path) -> None:
    path, bits = tmp_path / "x.safetensors", np.arange(0, 2**16, 997, dtype=np.uint16)
    write_tensors(path, {"x": ("bf16", bits)})
    dtype, read = read_tensors(path)["x"]
    assert dtype == "bf16"
    np.testing.assert_array_equal(read, bits)
    header = path.read_bytes()[8:]
    assert b'"dtype":"BF16"' in header[:200]


def damaged(path: Path, how: str) -> None:
    write_tensors(path, {"x": ("f32", ARRAYS["wide"]), "y": ("i8", ARRAYS["bytes"])})
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    match how:
        case "cut":
            content = content[:-1]
        case "header cut":
            content = content[: length // 2]
        case "empty":
            content = b""
        case "longer":
            content += b"\0"
        case "pointer":
            content = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
        case "no JSON":
            content = content[:8] + b"?" * length + content[8 + length :]
        case "list":
            content = _with_header([1, 2], content[8 + length :])
        case "no offsets":
            del header["x"]["data_offsets"]
            content = _with_header(header, content[8 + length :])
        case "other shape":
            header["x"]["shape"] = [3, 6]
            content = _with_header(header, content[8 + length :])
        case "endless shape":
            header["x"]["shape"] = [float("inf")]
            content = _with_header(header, content[8 + length :])
        case "deep":
            content = (100_000).to_bytes(8, "little") + b"[" * 100_000
        case "other type":
            header["x"]["dtype"] = "F8_E4M3"
            content = _with_header(header, content[8 + length :])
    path.write_bytes(content)


def _with_header(header: object, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    "how",
    [
        "cut",
        "header cut",
        "empty",
        "longer",
        "pointer",
        "no JSON",
        "list",
        "no offsets",
        "other shape",
        "endless shape",
        "deep",
    ],
)
def test_damage_is_named(tmp_path: Path, how: str) -> None:
    path = tmp_path / "x.safetensors"
    damaged(path, how)
    with pytest.raises(ModelError, match="not downloaded in full") as caught:
        read_tensors(path)
    assert caught.value.code == "model_invalid"
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        read_tensors(tmp_path / "x.safetensors")


def test_other_types_are_refused(tmp_path: Path) -> None:
    damaged(tmp_path / "x.safetensors", "other type")
    with pytest.raises(ModelError, match="F8_E4M3") as caught:
        read_tensors(tmp_path / "x.safetensors")
    assert caught.value.code == "model_unsupported"
