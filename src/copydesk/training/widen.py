"""A model's folder as one of a larger model that gives the same answers, for timings of the larger one.

Knows files; what the weights are is `wide_weights`' business, what the ids are `renumber`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from copydesk.errors import UsageError
from copydesk.models.config import ModelConfig, read_json
from copydesk.models.tensorfile import Stored, write_tensors
from copydesk.models.weights import INDEX_FILE, Weights, to_bf16
from copydesk.training.renumber import new_ids, write_json, write_renumbered
from copydesk.training.wide_weights import Array, WideWeights

Dtype = Literal["bfloat16", "float32"]
_SHARD_BYTES = 256 * 2**20
"""A file of weights is closed once it holds this much: no more than one of them is in memory."""
_ROWS = 4096
"""Rows converted at a time: the float copies stay small."""


def widen(model: Path, qwen3: Path, destination: Path, *, seed: int = 0, dtype: Dtype = "bfloat16") -> None:
    """Embed the model in folder `model` in the shape that folder `qwen3` describes, and write it to `destination`.

    `qwen3` holds `config.json` of the larger model and the `tokenizer.json` (or `.gz`) that the model's own was cut
    from. `destination` becomes an ordinary Hugging Face folder. `seed` sets the weights that do nothing, nothing else.
    Errors: `ModelError` when one of the folders cannot be read, `UsageError` when the model does not fit into the
    shape, or `destination` holds something already or cannot be written.
    """
    source, target = ModelConfig.read(model), ModelConfig.read(qwen3)
    ids = new_ids(model, qwen3)
    if ids.max() >= target.vocab_size:
        raise UsageError(f"{qwen3} has {target.vocab_size} rows but a token {ids.max()}; its files do not match")
    tensors = WideWeights(Weights(model), source, target, ids, seed=seed)
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} holds something already; give a new or an empty folder")
    try:
        destination.mkdir(parents=True, exist_ok=True)
        _write_shards(destination, tensors, dtype)
        write_renumbered(model, ids, destination)
        name = {"name": f"{source.name}-widened"}
        own = read_json(model / "copydesk.json") if (model / "copydesk.json").is_file() else {}
        write_json(destination / "copydesk.json", own | name)
        changed = {
            "tie_word_embeddings": False,
            "rms_norm_eps": source.rms_norm_eps,
            "eos_token_id": read_json(destination / "generation_config.json").get("eos_token_id"),
            "torch_dtype": dtype,
        }
        # Last: without it the folder is no model.
        write_json(destination / "config.json", read_json(qwen3 / "config.json") | changed)
    except OSError as error:
        raise UsageError(f"{destination} cannot be written: {error.strerror or error}; give another folder") from error


def _write_shards(folder: Path, tensors: Iterable[tuple[str, Array]], dtype: Dtype) -> None:
    """Write the tensors as files of about 256 MiB with an index."""
    files: list[Path] = []
    place: dict[str, int] = {}
    size = 0
    for shard in _shards(tensors, dtype):
        place |= dict.fromkeys(shard, len(files))
        size += sum(array.nbytes for _, array in shard.values())
        files.append(folder / f"part-{len(files)}")
        write_tensors(files[-1], shard)
    names = [f"model-{number:05}-of-{len(files):05}.safetensors" for number in range(1, len(files) + 1)]
    for file, name in zip(files, names, strict=True):
        file.rename(folder / name)
    weight_map = {tensor: names[number] for tensor, number in place.items()}
    write_json(folder / INDEX_FILE, {"metadata": {"total_size": size}, "weight_map": weight_map})


def _shards(tensors: Iterable[tuple[str, Array]], dtype: Dtype) -> Iterator[dict[str, Stored]]:
    shard: dict[str, Stored] = {}
    for name, values in tensors:
        shard[name] = _stored(values, dtype)
        if sum(array.nbytes for _, array in shard.values()) >= _SHARD_BYTES:
            yield shard
            shard = {}
    if shard:
        yield shard


def _stored(values: Array, dtype: Dtype) -> Stored:
    if dtype == "float32":
        return "f32", values
    rounded = np.empty(values.shape, np.uint16)
    for start in range(0, len(values), _ROWS):
        rounded[start : start + _ROWS] = to_bf16(values[start : start + _ROWS])
    return "bf16", rounded
