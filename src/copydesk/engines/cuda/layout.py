"""Which token of an engine call stands where: the whole call as one flat int32 array, ready for one copy to the device.

Everything is padded to a `Size`, so that a recorded CUDA graph can be played again with other contents. Knows no
tensors on a device and no weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Flat = TypeVar("Flat", bound=Any)
NONE: Ints = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Size:
    """How many of each a layout has room for."""

    tokens: int
    tiles: int
    """Groups of up to `tile` tokens of one sequence, which attention treats together."""
    sequences: int
    width: int
    """Blocks of the longest sequence."""
    wanted: int
    listed: int
    tile: int
    """The most tokens in a tile."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of each part of the flat array, in order."""
        return {
            "tokens": (self.tokens,),
            "positions": (self.tokens,),
            "rows": (self.tokens,),
            "tile_starts": (self.tiles,),
            "tile_counts": (self.tiles,),
            "tile_positions": (self.tiles,),
            "tile_rows": (self.tiles,),
            "wanted": (self.wanted,),
            "listed_rows": (self.listed,),
            "listed_tokens": (self.listed,),
            "origins": (self.sequences,),
            "targets": (self.sequences,),
            "tables": (self.sequences + 1, self.width),
        }

    @property
    def flat(self) -> int:
        """Elements of the flat array."""
        return sum(map(_padded, self.shapes.values()))


@dataclass(frozen=True, slots=True)
class Part:
    """What one forward reads of some sequences: `lengths[i]` tokens of the one in row `i`, after `starts[i]` others."""

    tokens: Ints
    starts: Ints
    lengths: Ints
    wanted: Ints
    """Ascending indices into `tokens`."""
    blocks: Sequence[Sequence[int]]
    """Of each sequence: the numbers of the blocks that hold it, these tokens included."""
    listed_rows: Ints = field(default_factory=lambda: NONE)
    """Indices into `wanted` of the single tokens whose log-probabilities are asked for."""
    listed_tokens: Ints = field(default_factory=lambda: NONE)
    copies: list[tuple[int, int]] = field(default_factory=list)
    """Blocks to copy before anything is written, `(from, to)`; at most one a sequence of the call. Emptied once
    that is queued: a copy made twice would take what was written since."""

    def size(self, tile: int) -> Size:
        """The least room for this, with tiles of at most `tile` tokens."""
        tiles = int((-(-self.lengths // tile)).sum())
        width = max(map(len, self.blocks), default=1)
        listed = len(self.listed_rows)
        return Size(len(self.tokens), tiles, self.sequences, width, len(self.wanted), listed, tile)

    @property
    def sequences(self) -> int:
        """How many there must be room for: a part of a call that was split makes the copies for all of it."""
        return max(len(self.lengths), len(self.copies))

    def fill(self, views: dict[str, Ints], size: Size) -> None:
        """Write this into the parts of a flat array, of a size that has room for it.

        What is left over is harmless: such a token stands at position 0 of row 0, which maps to block 0 and belongs to
        no sequence; such a tile is empty; such a copy is of block 0 to itself.
        """
        owners, within = _runs(self.lengths)
        tile_owners, tile_within = _runs(-(-self.lengths // size.tile))
        offsets = tile_within * np.int32(size.tile)
        begins = np.cumsum(self.lengths, dtype=np.int32) - self.lengths
        _put(views["tokens"], self.tokens)
        _put(views["positions"], within + self.starts[owners])
        _put(views["rows"], owners + 1)
        _put(views["tile_starts"], begins[tile_owners] + offsets)
        _put(views["tile_counts"], np.minimum(self.lengths[tile_owners] - offsets, size.tile))
        _put(views["tile_positions"], self.starts[tile_owners] + offsets)
        _put(views["tile_rows"], tile_owners + 1)
        _put(views["wanted"], self.wanted)
        _put(views["listed_rows"], self.listed_rows)
        _put(views["listed_tokens"], self.listed_tokens)
        copies = np.array(self.copies, np.int32).reshape(-1, 2)
        _put(views["origins"], copies[:, 0])
        _put(views["targets"], copies[:, 1])
        self._fill_tables(views["tables"])

    def _fill_tables(self, tables: Ints) -> None:
        tables[:] = 0
        counts = list(map(len, self.blocks))
        numbers = np.fromiter(chain.from_iterable(self.blocks), np.int32, sum(counts))
        filled = np.arange(tables.shape[1]) < np.array(counts)[:, None]
        tables[1 : len(counts) + 1][filled] = numbers


def sections(flat: Flat, size: Size) -> dict[str, Flat]:
    """The parts of a flat array, as views; of a tensor as well."""
    views, begin = {}, 0
    for name, shape in size.shapes.items():
        views[name] = flat[begin : begin + math.prod(shape)].reshape(shape)
        begin += _padded(shape)
    return views


def _padded(shape: tuple[int, ...]) -> int:
    """Elements up to where the next part begins: kernels load from 16-byte boundaries, and compile anew elsewhere."""
    return -(-math.prod(shape) // 4) * 4


def _runs(lengths: Ints) -> tuple[Ints, Ints]:
    """Of runs of such lengths, one after the other: for each element its run, and its index in that."""
    if len(lengths) == 1:
        count = int(lengths[0])
        return np.zeros(count, np.int32), np.arange(count, dtype=np.int32)
    owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    begins = np.cumsum(lengths, dtype=np.int32) - lengths
    return owners, np.arange(len(owners), dtype=np.int32) - begins[owners]


def _put(section: Ints, values: Ints) -> None:
    section[: len(values)] = values
    section[len(values) :] = 0
