"""The KV cache of all sequences: cells of one token each, which sequences that began alike share.

A forward's rows are gathered from it, and what is new in them goes into it. Padding is cell 0, which stays zero, so
that nothing that was ever computed for a padded place can reach a real one. Knows nothing of models but the shapes of
their keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

from copydesk.errors import EngineError

Cells = NDArray[np.int64]
_FIRST = 256
"""Cells that there is room for at first."""


class Pool:
    """Cells and how many sequences hold each. Tensors grow as cells are taken, up to `most` of them."""

    def __init__(self, layers: int, most: int) -> None:
        self.most = most
        self._layers: list[tuple[Tensor, Tensor] | None] = [None] * layers
        self._holders = np.ones(1, np.int32)  # cell 0 belongs to nobody and is never taken
        self._free: Cells = np.empty(0, np.int64)

    def take(self, count: int) -> Cells:
        """So many cells of one's own. Errors: `EngineError` `cache_full`."""
        while count > len(self._free):
            self._grow(count)
        taken, self._free = self._free[:count], self._free[count:]
        self._holders[taken] = 1
        return taken

    def share(self, cells: Cells) -> Cells:
        """Hold these cells once more."""
        self._holders[cells] += 1
        return cells

    def drop(self, cells: Cells) -> None:
        """Hold these cells once less; those that nobody holds are free again."""
        self._holders[cells] -= 1
        self._free = np.concatenate([cells[self._holders[cells] == 0], self._free])

    def exchange(self, layer: int, keys: Tensor, values: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        """Keep what is new in `keys` and `values` `[rows, heads, width, size]`; returns what the rows attend to,
        `[rows, heads, past + width, size]`, padding zero."""
        kept = self._kept(layer, keys, values)
        cells, new_rows, new_columns, gathered = rows.on(keys.device)
        result = []
        for store, states in zip(kept, (keys, values), strict=True):
            store[cells] = states.transpose(1, 2)[new_rows, new_columns]
            result.append(store[gathered].transpose(1, 2))
        return result[0], result[1]

    def clear(self) -> None:
        """Free all memory."""
        self._layers.clear()

    @property
    def cell_bytes(self) -> int:
        """What a cell takes in all layers that were exchanged with."""
        tensors = [tensor for kept in self._layers if kept is not None for tensor in kept]
        return sum(tensor[0].numel() * tensor.element_size() for tensor in tensors)

    def _grow(self, count: int) -> None:
        had = len(self._holders)
        size = min(self.most + 1, max(_FIRST, 2 * had, had + count))
        if count > size - had + len(self._free):
            raise EngineError(
                f"the KV cache of {self.most:,} tokens is full; release sequences, or use a smaller dtype",
                code="cache_full",
            )
        for layer, kept in enumerate(self._layers):
            if kept is not None:  # memory may run out here, before any cell counts as there
                self._layers[layer] = _grown(kept[0], size), _grown(kept[1], size)
        self._holders = np.concatenate([self._holders, np.zeros(size - had, np.int32)])
        self._free = np.concatenate([self._free, np.arange(had, size)])

    def _kept(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """The layer's keys and values, `[cells, heads, size]`."""
        kept = self._layers[layer]
        if kept is None:
            keys, values = (states[0, :, :0].transpose(0, 1) for states in (keys, values))
            kept = self._layers[layer] = _grown(keys, len(self._holders)), _grown(values, len(self._holders))
        return kept


def _grown(kept: Tensor, size: int) -> Tensor:
    """`[size, ...]` that begins with `kept` and goes on with zeros."""
    grown = kept.new_zeros(size, *kept.shape[1:])
    grown[: len(kept)] = kept
    return grown


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Which cells a forward's rows attend to, and where what is new in them goes."""

    past: int
    """Width of the longest past; others are padded before theirs."""
    new_cells: Tensor
    """`[new tokens]`, in the order of `new_rows` and `new_columns`, which say where each stands in the input."""
    new_rows: Tensor
    new_columns: Tensor
    gathered: Tensor
    """`[rows, past + width]` cells: padding, past, what is new, padding."""
    _moved: dict[torch.device, tuple[Tensor, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, pasts: list[Cells], news: list[Cells]) -> Rows:
        """Rows whose sequences hold the cells `pasts` and read new ones into `news`."""
        past, width = max(map(len, pasts)), max(map(len, news))
        gathered = np.zeros((len(news), past + width), np.int64)
        for row, (before, new) in enumerate(zip(pasts, news, strict=True)):
            gathered[row, past - len(before) : past] = before
            gathered[row, past : past + len(new)] = new
        counts = [len(new) for new in news]
        rows = np.repeat(np.arange(len(news)), counts)
        columns = np.concatenate([np.arange(count) for count in counts])
        new_cells, new_rows, new_columns, cells = map(torch.from_numpy, (np.concatenate(news), rows, columns, gathered))
        return cls(past, new_cells, new_rows, new_columns, cells)

    def on(self, device: torch.device) -> tuple[Tensor, ...]:
        """Cells, rows and columns of what is new, and all that is gathered, on a device."""
        if device not in self._moved:
            here = (self.new_cells, self.new_rows, self.new_columns, self.gathered)
            self._moved[device] = tuple(tensor.to(device) for tensor in here)
        return self._moved[device]


class PassLayer(CacheLayerMixin):  # type: ignore[misc]
    """A layer of the cache of one forward, as Transformers calls it."""

    is_sliding = False
    """A window over the tokens is the mask's business; here all are kept, so that sequences can be cut."""

    def __init__(self, pool: Pool, layer: int, rows: Rows) -> None:
        super().__init__()
        self._pool, self._layer, self._rows = pool, layer, rows

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing to do."""

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Take new keys and values; returns all."""
        return self._pool.exchange(self._layer, key_states, value_states, self._rows)

    def get_mask_sizes(self, query_length: Any) -> tuple[int, int]:
        """Keys in all, and the first's place."""
        # Early versions give the places of the queries instead of their number.
        return self._rows.past + (query_length if isinstance(query_length, int) else len(query_length)), 0

    def get_seq_length(self) -> int:
        """Keys before this forward."""
        return self._rows.past

    def get_max_length(self) -> int:
        """No bound."""
        return -1

    get_max_cache_shape = get_max_length


def pass_cache(pool: Pool, layers: int, rows: Rows) -> Cache:
    """The cache to give to a model's forward over these rows."""
    return Cache(layers=[PassLayer(pool, layer, rows) for layer in range(layers)])
