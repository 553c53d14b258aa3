"""The KV cache on the device: blocks of keys and values for all layers, and which sequence holds which of them.

Knows nothing of how they are computed.
"""

from __future__ import annotations

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


def bytes_per_block(layers: int, heads: Heads, dtype: torch.dtype) -> int:
    """Memory that a block takes in all layers."""
    return 2 * layers * heads.kv * BLOCK_SIZE * heads.size * dtype.itemsize
