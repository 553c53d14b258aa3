"""A reduced tokenizer whose tokens take the ids that they have in the full one, so that a model of its size can use it.

It splits every text as before, and yields no id of a token that was left out. Knows no weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.errors import UsageError
from copydesk.models.config import read_json
from copydesk.models.tokenizer import read_tokenizer_json


def new_ids(reduced: Path, full: Path) -> NDArray[np.int64]:
    """The id in the tokenizer of folder `full` of each token in that of folder `reduced`: `[tokens]`.

    Errors: `ModelError` when a folder has no tokenizer, `UsageError` when the one is not cut from the other.
    """
    old, new = (_ids(json.loads(read_tokenizer_json(folder))) for folder in (reduced, full))
    missing = old.keys() - new.keys()
    if missing:
        raise UsageError(
            f"the tokenizer in {full} has no token {min(missing)!r}, which the one in {reduced} has; "
            "take the one that it was cut from"
        )
    if sorted(old.values()) != list(range(len(old))):
        raise UsageError(f"the ids of the tokenizer in {reduced} have gaps or repeat; take another model")
    return np.array([new[token] for token, _ in sorted(old.items(), key=lambda item: item[1])])


def write_renumbered(reduced: Path, ids: NDArray[np.int64], destination: Path) -> None:
    """Write the tokenizer files of folder `reduced`, with `ids` for its ids, to the folder `destination`."""
    definition = json.loads(read_tokenizer_json(reduced))
    vocabulary = {token: int(ids[id]) for token, id in _ids(definition).items()}
    # Control tokens stand in the model's vocabulary too: the library numbers those that do not by counting.
    definition["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    for token in definition["added_tokens"]:
        token["id"] = int(ids[token["id"]])
    text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
    (destination / "tokenizer.json").write_text(text, encoding="utf-8")
    config = read_json(reduced / "tokenizer_config.json")
    if "added_tokens_decoder" in config:
        added = config["added_tokens_decoder"]
        config["added_tokens_decoder"] = {str(ids[int(id)]): token for id, token in added.items()}
    write_json(destination / "tokenizer_config.json", config)
    write_json(
        destination / "generation_config.json",
        {key: _renumbered(key, value, ids) for key, value in read_json(reduced / "generation_config.json").items()},
    )


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of a model folder."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _ids(definition: Mapping[str, Any]) -> dict[str, int]:
    """The id of each token of a tokenizer, control tokens included, by how the tokenizer writes it."""
    added = {token["content"]: token["id"] for token in definition["added_tokens"]}
    return {**definition["model"]["vocab"], **added}


def _renumbered(key: str, value: Any, ids: NDArray[np.int64]) -> Any:
    """The value of a setting: `eos_token_id` and its like hold an id, several, or null."""
    if not key.endswith("token_id") or value is None:
        return value
    return [int(ids[id]) for id in value] if isinstance(value, list) else int(ids[value])
