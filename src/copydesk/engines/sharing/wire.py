"""What goes between an engine's server and its clients: a few arrays in one buffer, or an error.

A request brings the changes to sequences that were made since the last one, in order, and then perhaps asks for a pass
of some of them or for a row. Only a request that asks for something is answered. Knows nothing of connections.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.packed import Floats, PackedReads, PackedScores
from copydesk.errors import EngineError

_HEADER = struct.Struct("<12i")
"""The kind of a message and how many items each of its arrays has; so long that the arrays are aligned."""


class Change(IntEnum):
    """What happened to a sequence, with its argument."""

    OPEN = 0
    """Argument 0."""
    FORK = 1
    """Of the sequence that is the argument."""
    CUT = 2
    """To as many tokens."""
    RELEASE = 3
    """Argument 0."""


class _Kind(IntEnum):
    CHANGES = 0
    RUN = 1
    ROW = 2
    SCORES = 3
    FAILED = 4


Changes = Sequence[tuple[Change, int, int]]
"""Each a change, its sequence, its argument."""
Asked = PackedReads | tuple[int, int] | None
"""A pass, or a row: its sequence, and its position as `Engine.row` takes it."""


def request(changes: Changes, asked: Asked = None) -> bytes:
    """A client's message."""
    changed = np.array(changes, np.int64).reshape(-1)
    if isinstance(asked, PackedReads):
        return _message(_Kind.RUN, [changed, *asked.arrays()])
    if asked is None:
        return _message(_Kind.CHANGES, [changed])
    return _message(_Kind.ROW, [changed, np.array(asked, np.int64)])


def requested(message: bytes) -> tuple[Changes, Asked]:
    """What a client's message says. Arrays are views of it."""
    kind = _kind(message)
    if kind == _Kind.RUN:
        changed, *arrays = _arrays(message, (np.int64, *PackedReads.dtypes))
        return _changes(changed), PackedReads(*arrays)
    if kind == _Kind.CHANGES:
        (changed,) = _arrays(message, (np.int64,))
        return _changes(changed), None
    changed, row = _arrays(message, (np.int64, np.int64))
    sequence, position = row.tolist()
    return _changes(changed), (sequence, position)


def scores(scored: PackedScores) -> bytes:
    """The answer to a pass."""
    return _message(_Kind.SCORES, scored.arrays())


def row(logprobs: Floats) -> bytes:
    """The answer to a row."""
    return _message(_Kind.ROW, [np.ascontiguousarray(logprobs, np.float32)])


def failure(error: Exception) -> bytes:
    """The answer to what failed."""
    code = error.code if isinstance(error, EngineError) else "engine_failed"
    text = str(error) if isinstance(error, EngineError) else f"The engine failed: {error!r}."
    return _HEADER.pack(_Kind.FAILED, *[0] * 11) + json.dumps([code, text]).encode()


def scored(message: bytes) -> PackedScores:
    """What was answered to a pass. Errors: the `EngineError` that it failed with."""
    _raise_failure(message)
    return PackedScores(*_arrays(message, PackedScores.dtypes))


def answered_row(message: bytes) -> Floats:
    """What was answered to a row. Errors: the `EngineError` that it failed with."""
    _raise_failure(message)
    (logprobs,) = _arrays(message, (np.float32,))
    return logprobs


def _message(kind: _Kind, arrays: Sequence[NDArray[Any]]) -> bytes:
    sizes = [array.size for array in arrays]
    return b"".join([_HEADER.pack(kind, *sizes, *[0] * (11 - len(sizes))), *(array.data for array in arrays)])


def _kind(message: bytes) -> int:
    kind: int = _HEADER.unpack_from(message)[0]
    return kind


def _arrays(message: bytes, dtypes: Sequence[type[np.generic]]) -> list[NDArray[Any]]:
    arrays, offset = [], _HEADER.size
    for dtype, size in zip(dtypes, _HEADER.unpack_from(message)[1:], strict=False):
        array = np.frombuffer(message, dtype, size, offset)
        arrays.append(array)
        offset += array.nbytes
    return arrays


def _changes(changed: NDArray[Any]) -> Changes:
    return [(Change(change), sequence, argument) for change, sequence, argument in changed.reshape(-1, 3).tolist()]


def _raise_failure(message: bytes) -> None:
    if _kind(message) == _Kind.FAILED:
        code, text = json.loads(message[_HEADER.size :])
        raise EngineError(text, code=code)
