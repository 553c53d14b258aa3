"""Keeps taggers on this machine, a file for each task, and forgets them.

Files hold weights and frequent values, no texts. A file that is damaged or of another version counts as none, and a
folder that cannot be written is put up with. Knows nothing of how taggers are learned.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from copydesk.drafting.remembered import Remembered
from copydesk.drafting.tagger.features import BITS
from copydesk.drafting.tagger.features import VERSION as FEATURES_VERSION
from copydesk.drafting.tagger.perceptron import Floats, Weights
from copydesk.drafting.tagger.tagger import Kind, Records, Tagger
from copydesk.types import Task

_VERSION = [1, FEATURES_VERSION]
_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)
_log = logging.getLogger("copydesk")


def key(task: Task) -> str:
    """What tells tasks apart: their instruction, and their schema or labels."""
    return _keys(task)


def _key(task: Task) -> str:
    schema = None if task.schema is None else task.schema.json
    text = json.dumps([task.instruction, schema, task.labels])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_keys = Remembered(_key)


class Store:
    """The taggers under a folder, which need not exist."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "taggers"

    def load(self, task: Task) -> Tagger | None:
        """What was learned of a task, None if nothing that can be read."""
        path = self._path(task)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return _read(arrays["runs"], arrays["values"], arrays["about"].tobytes())
        except FileNotFoundError:
            return None
        except _DAMAGE as error:
            _log.debug("%s is ignored: %s", path, error)
            return None

    def save(self, task: Task, tagger: Tagger) -> bool:
        """Write what was learned in one piece; returns whether it could be written."""
        path = self._path(task)
        temporary: str | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as file:
                temporary = file.name
                np.savez_compressed(
                    file,
                    runs=tagger.weights.runs.astype(np.float16),
                    values=tagger.weights.values.astype(np.float16),
                    about=np.frombuffer(_about(tagger), np.uint8),
                )
            os.replace(temporary, path)
        except OSError as error:
            _log.debug("%s cannot be written: %s", path, error)
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
            return False
        return True

    def forget(self) -> int:
        """Delete all that was learned of any task; returns how many files that were. Errors: `OSError`."""
        files = [path for pattern in ("*.npz", "*.part") for path in self._folder.glob(pattern)]
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    def _path(self, task: Task) -> Path:
        return self._folder / f"{key(task)}.npz"


def _about(tagger: Tagger) -> bytes:
    about = {
        "version": _VERSION,
        "kinds": [[kind.target, list(kind.category)] for kind in tagger.kinds],
        "values": tagger.values,
        "edits": tagger.edits,
        "stems": tagger.stems,
        "usual": tagger.usual,
        "records": {path: asdict(records) for path, records in tagger.records.items()},
        "filled": sorted(tagger.filled),
        "seen": tagger.seen,
    }
    return json.dumps(about).encode()


def _read(runs: Floats, values: Floats, about: bytes) -> Tagger:
    """Errors: those of `_DAMAGE`."""
    said: dict[str, Any] = json.loads(about)
    if said["version"] != _VERSION:
        raise ValueError(f"version {said['version']}")
    tagger = Tagger(
        weights=Weights(_table(runs), _table(values)),
        kinds=tuple(Kind(target, tuple(category)) for target, category in said["kinds"]),
        values=tuple((target, text) for target, text in said["values"]),
        edits=dict(said["edits"]),
        stems={target: dict(stems) for target, stems in said["stems"].items()},
        usual=dict(said["usual"]),
        records={
            path: Records(records["anchor"], tuple(records["categories"]), bool(records["in_text_order"]))
            for path, records in said["records"].items()
        },
        filled=frozenset(said["filled"]),
        seen=int(said["seen"]),
    )
    if tagger.weights.runs.shape[1] != 3 * len(tagger.kinds) or tagger.weights.values.shape[1] != len(tagger.values):
        raise ValueError("weights and what they are of differ in number")
    return tagger


def _table(array: Floats) -> Floats:
    rows = len(array)
    if array.ndim != 2 or rows & (rows - 1) or not 1 < rows <= 1 << BITS:
        raise ValueError("weights of a wrong size")
    return array.astype(np.float32)
