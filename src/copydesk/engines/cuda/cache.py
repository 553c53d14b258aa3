"""The KV cache on the device: blocks of keys and values for all layers, and which sequence holds which of them.

Knows nothing of how they are computed.
"""

from __future__ import annotations

from types import ModuleType

import torch

from copydesk.engines.blocks import BLOCK_SIZE, BlockTable
from copydesk.engines.cuda.shapes import Heads
from copydesk.errors import EngineError


class Cache:
    """Keys and values `[layers, blocks, kv heads, BLOCK_SIZE, size]`; block 0 is scratch and no sequence's."""

    def __init__(
        self,
        layers: int,
        heads: Heads,
        blocks: int,
        device: torch.device,
        dtype: torch.dtype,
        operations: ModuleType,
    ) -> None:
        """Errors: `EngineError` `engine_failed` when the device has no room for it."""
        shape = (layers, blocks, heads.kv, BLOCK_SIZE, heads.size)
        try:
            self.keys = torch.empty(shape, dtype=dtype, device=device)
            self.values = torch.empty(shape, dtype=dtype, device=device)
        except torch.OutOfMemoryError as error:
            raise EngineError(
                f"the GPU has no room for a KV cache of {blocks * BLOCK_SIZE:,} tokens; load with a smaller "
                "cache_bytes, or free memory on it",
                code="engine_failed",
            ) from error
        self.table = BlockTable(blocks, reserved=1)
        self._operations = operations
        self._device = device

    def extend(self, additions: list[tuple[int, int]]) -> None:
        """Make room for `(sequence, tokens)` more; all of it or none. Errors: `EngineError` `cache_full`."""
        copies = self.table.extend(additions)
        if copies:
            pairs = torch.tensor(copies, dtype=torch.int32).T.contiguous().to(self._device)
            self._operations.copy_blocks(self.keys, self.values, pairs[0], pairs[1])


def bytes_per_block(layers: int, heads: Heads, dtype: torch.dtype) -> int:
    """Memory that a block takes in all layers."""
    return 2 * layers * heads.kv * BLOCK_SIZE * heads.size * dtype.itemsize
