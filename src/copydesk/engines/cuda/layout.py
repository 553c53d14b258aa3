"""Which token of an engine call stands where: the whole call as one flat int32 array, ready for one copy to the device.

Everything is padded to a `Size`, so that a recorded CUDA graph can be played again with other contents. Knows no
tensors on a device and no weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


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
    tile: int
    """The most tokens in a tile."""

    @property
    def sections(self) -> dict[str, tuple[int, ...]]:
        """Shape of each part of the flat array, in order."""
        return {
            "tokens": (self.tokens,),
            "positions": (self.tokens,),
            "rows": (self.tokens,),
            "tile_starts": (self.tiles,),
            "tile_counts": (self.tiles,),
            "tile_positions": (self.tiles,),
            "tile_rows": (self.tiles,),
            "wanted": (self.wanted,),
            "tables": (self.sequences + 1, self.width),
        }

    @property
    def flat(self) -> int:
        """Elements of the flat array."""
        return sum(_padded(shape) for shape in self.sections.values())


@dataclass(frozen=True, slots=True)
class Part:
    """What one forward reads of some sequences: `lengths[i]` tokens of the one in row `i`, after `starts[i]` others."""

    tokens: Ints
    starts: Ints
    lengths: Ints
    wanted: Ints
    """Ascending indices into `tokens`."""
    blocks: list[list[int]]
    """Of each sequence: the numbers of the blocks that hold it, these tokens included."""

    def size(self, tile: int) -> Size:
        """The least room for this, with tiles of at most `tile` tokens."""
        tiles = int((-(-self.lengths // tile)).sum())
        width = max(map(len, self.blocks), default=1)
        return Size(len(self.tokens), tiles, len(self.lengths), width, len(self.wanted), tile)

    def fill(self, flat: Ints, size: Size) -> None:
        """Write this into a flat array of a size that has room for it.

        Tokens, tiles and wanted positions that are left over are harmless: such a token stands at position 0 of row 0,
        which maps to block 0 and belongs to no sequence; such a tile is empty.
        """
        parts = sections(flat, size)
        count = len(self.tokens)
        owners = np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)
        begins = (np.cumsum(self.lengths) - self.lengths).astype(np.int32)
        within = np.arange(count, dtype=np.int32) - begins[owners]
        _put(parts["tokens"], self.tokens)
        _put(parts["positions"], within + self.starts[owners])
        _put(parts["rows"], owners + 1)
        tiles = -(-self.lengths // size.tile)
        of = np.repeat(np.arange(len(tiles), dtype=np.int32), tiles)
        offset = (np.arange(len(of), dtype=np.int32) - (np.cumsum(tiles) - tiles)[of]) * size.tile
        _put(parts["tile_starts"], begins[of] + offset)
        _put(parts["tile_counts"], np.minimum(self.lengths[of] - offset, size.tile))
        _put(parts["tile_positions"], self.starts[of] + offset)
        _put(parts["tile_rows"], of + 1)
        _put(parts["wanted"], self.wanted)
        tables = parts["tables"]
        tables[:] = 0
        counts = np.fromiter(map(len, self.blocks), np.int64, len(self.blocks))
        numbers = np.fromiter((block for blocks in self.blocks for block in blocks), np.int32, int(counts.sum()))
        tables[1 : len(self.blocks) + 1][np.arange(size.width) < counts[:, None]] = numbers


def sections(flat: Ints, size: Size) -> dict[str, Ints]:
    """The parts of a flat array, as views; of any array that can be sliced and reshaped."""
    views, begin = {}, 0
    for name, shape in size.sections.items():
        views[name] = flat[begin : begin + int(np.prod(shape))].reshape(shape)
        begin += _padded(shape)
    return views


def _padded(shape: tuple[int, ...]) -> int:
    """Elements up to where the next part begins: kernels load from 16-byte boundaries, and compile anew elsewhere."""
    return -(-int(np.prod(shape)) // 4) * 4


def _put(section: Ints, values: Ints) -> None:
    section[: len(values)] = values
    section[len(values) :] = 0
