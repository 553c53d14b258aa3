"""The KV cache's shape and what a block takes."""

from __future__ import annotations

import pytest
import torch

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.cuda.cache import Cache, bytes_per_block
from copydesk.engines.cuda.shapes import Heads
from copydesk.errors import EngineError

HEADS = Heads(4, 2, 8)


def test_blocks_take_what_is_said() -> None:
    cache = Cache(3, HEADS, 10, torch.device("cpu"), torch.bfloat16)
    assert cache.keys.nbytes + cache.values.nbytes == 10 * bytes_per_block(3, HEADS, torch.bfloat16)
    assert cache.keys.shape == (3, 10, 2, BLOCK_SIZE, 8)


def test_block_0_is_no_sequences() -> None:
    cache = Cache(1, HEADS, 4, torch.device("cpu"), torch.float32)
    sequence = cache.table.open()
    cache.table.extend([(sequence, 3 * BLOCK_SIZE)])
    assert 0 not in cache.table.blocks(sequence)
    assert cache.table.free_blocks == 0


def test_no_room_on_the_device_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("none left")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(EngineError, match="no room for a KV cache of 320 tokens; load with a smaller cache_bytes"):
        Cache(3, HEADS, 10, torch.device("cpu"), torch.bfloat16)
