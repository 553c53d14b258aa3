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
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from copydesk.drafting.remembered import Remembered
from copydesk.drafting.tagger.features import VERSION as FEATURES_VERSION
from copydesk.drafting.tagger.perceptron import Weights
from copydesk.drafting.tagger.tagger import Kind, Records, Tagger
from copydesk.types import Task

_FLOAT = np.dtype("<f2")
_MOST_FILES = 100
_VERSION = [1, FEATURES_VERSION]
_DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, zlib.error)
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
            return _read(path.read_bytes())
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
                file.write(_written(tagger))
            os.replace(temporary, path)
            self._tidy()
        except OSError as error:
            _log.debug("%s cannot be written: %s", path, error)
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
            return False
        return True

    def forget(self) -> int:
        """Delete all that was learned of any task; returns how many files that were. Errors: `OSError`."""
        files = self._files()
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    def _tidy(self) -> None:
        """Delete what was written longest ago, beyond so many files."""
        files = sorted(self._files(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[_MOST_FILES:]:
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return [path for pattern in ("*.tagger", "*.part") for path in self._folder.glob(pattern)]

    def _path(self, task: Task) -> Path:
        return self._folder / f"{key(task)}.tagger"


def _written(tagger: Tagger) -> bytes:
    """A checksum, then, compressed: a line of JSON, and the weights as 16-bit floats."""
    runs, values = tagger.weights.runs, tagger.weights.values
    about = {
        "version": _VERSION,
        "shapes": [runs.shape, values.shape],
        "kinds": [[kind.target, kind.category] for kind in tagger.kinds],
        "values": tagger.values,
        "edits": tagger.edits,
        "stems": tagger.stems,
        "usual": tagger.usual,
        "records": {path: asdict(records) for path, records in tagger.records.items()},
        "filled": sorted(tagger.filled),
        "seen": tagger.seen,
    }
    numbers = b"".join(table.astype(_FLOAT).tobytes() for table in (runs, values))
    body = zlib.compress(json.dumps(about).encode() + b"\n" + numbers, 1)
    return zlib.crc32(body).to_bytes(4) + body


def _read(file: bytes) -> Tagger:
    """Errors: those of `_DAMAGE`."""
    if zlib.crc32(file[4:]).to_bytes(4) != file[:4]:
        raise ValueError("its checksum is wrong")
    about, _, numbers = zlib.decompress(file[4:]).partition(b"\n")
    said: dict[str, Any] = json.loads(about)
    if said["version"] != _VERSION:
        raise ValueError(f"it is of version {said['version']}")
    runs, values = said["shapes"]
    floats = np.frombuffer(numbers, _FLOAT).astype(np.float32)
    split = runs[0] * runs[1]
    tagger = Tagger(
        weights=Weights(floats[:split].reshape(runs), floats[split:].reshape(values)),
        kinds=tuple(Kind(target, tuple(category)) for target, category in said["kinds"]),
        values=tuple((target, text) for target, text in said["values"]),
        edits=said["edits"],
        stems=said["stems"],
        usual=said["usual"],
        records={
            path: Records(records["anchor"], tuple(records["categories"]), records["in_text_order"])
            for path, records in said["records"].items()
        },
        filled=frozenset(said["filled"]),
        seen=said["seen"],
    )
    if runs[1] != 3 * len(tagger.kinds) or values[1] != len(tagger.values):
        raise ValueError("its weights and what they are of differ in number")
    return tagger
