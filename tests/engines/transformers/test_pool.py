"""Cells of the KV cache: held by as many sequences as they belong to, and gathered as the rows of a forward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.transformers.pool import Pool, Rows, pass_cache
from copydesk.errors import EngineError


@given(st.data())
def test_a_cell_is_free_when_nobody_holds_it(data: st.DataObject) -> None:
    pool = Pool(1, 100)
    held: list[np.ndarray] = []
    for _ in range(data.draw(st.integers(1, 30))):
        action = data.draw(st.sampled_from(["take", "share", "drop"]))
        if action == "take":
            count = data.draw(st.integers(0, 30))
            in_use = len(set(np.concatenate([*held, np.empty(0, np.int64)]).tolist()))
            if in_use + count > 100:
                with pytest.raises(EngineError, match="100 tokens is full"):
                    pool.take(count)
            else:
                held.append(pool.take(count))
        elif held and action == "share":
            held.append(pool.share(data.draw(st.sampled_from(held))))
        elif held:
            pool.drop(held.pop(data.draw(st.integers(0, len(held) - 1))))
        used = np.concatenate([*held, np.empty(0, np.int64)])
        assert 0 not in used
        assert not set(used.tolist()) & set(pool._free.tolist())
        for cell in set(used.tolist()):
            assert pool._holders[cell] == (used == cell).sum()


def states(rows: int, width: int, seed: int) -> torch.Tensor:
    """`[rows, heads, width, size]`."""
    return torch.randn(rows, 2, width, 3, generator=torch.Generator().manual_seed(seed))


def test_rows_are_their_past_and_what_is_new_between_zeros() -> None:
    pool = Pool(2, 1000)
    none = np.empty(0, np.int64)
    first = [pool.take(3), pool.take(1)]
    cache = pass_cache(pool, 2, Rows.of([none, none], first))
    keys, values = states(2, 3, 1), states(2, 3, 2)
    cache.update(states(2, 3, 9), states(2, 3, 9), 0)
    cache.update(keys, values, 1)
    second = [pool.take(1), pool.take(2)]
    rows = Rows.of(first, second)
    cache = pass_cache(pool, 2, rows)
    assert (cache.get_seq_length(), cache.get_mask_sizes(2, 0), cache.get_mask_sizes(2, 1)) == (3, (5, 0), (5, 0))
    more = states(2, 2, 3)
    found, _ = cache.update(more, states(2, 2, 4), 1)
    assert found.shape == (2, 2, 5, 3)
    assert torch.equal(found[0], torch.cat([keys[0, :, :3], more[0, :, :1], torch.zeros(2, 1, 3)], 1))
    assert torch.equal(found[1], torch.cat([torch.zeros(2, 2, 3), keys[1, :, :1], more[1]], 1))


def test_what_is_kept_stays_when_there_is_more_room() -> None:
    pool = Pool(1, 5000)
    cells = pool.take(10)
    keys = states(1, 10, 5)
    pass_cache(pool, 1, Rows.of([np.empty(0, np.int64)], [cells])).update(keys, keys, 0)
    others = pool.take(3000)
    new = pool.take(1)
    found, _ = pass_cache(pool, 1, Rows.of([cells], [new])).update(states(1, 1, 6), states(1, 1, 6), 0)
    assert torch.equal(found[:, :, :10], keys)
    assert pool.cell_bytes == 2 * 2 * 3 * 4
    pool.drop(others)
    assert len(pool.take(3000)) == 3000


def test_memory_that_runs_out_while_growing_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(1, 5000)
    cells = pool.take(10)
    keys = states(1, 10, 5)
    pass_cache(pool, 1, Rows.of([np.empty(0, np.int64)], [cells])).update(keys, keys, 0)
    free = len(pool._free)

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("copydesk.engines.transformers.pool._grown", fails)
        with pytest.raises(MemoryError):
            pool.take(3000)
    assert len(pool._free) == free
    assert len(pool.take(3000)) == 3000
