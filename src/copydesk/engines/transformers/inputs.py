"""Rows of tokens as the tensors of a forward.

A row's past ends where all pasts end and its new tokens begin there, padding lying before and behind: so neighbours are
neighbours, which windows over the tokens rely on, and no position is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from copydesk.engines.transformers.network import Inputs


def rows_of_tokens(
    tokens: Sequence[Sequence[int]], pasts: Sequence[int], wanted: Sequence[Sequence[int]], device: torch.device
) -> Inputs:
    """Rows that read `tokens` after so many others, with the places among them that are to be scored."""
    past, width = max(pasts), max(map(len, tokens))
    ids, positions = (np.zeros((len(tokens), width), np.int64) for _ in range(2))
    mask = np.zeros((len(tokens), past + width), np.int64)
    for row, (new, before) in enumerate(zip(tokens, pasts, strict=True)):
        ids[row, : len(new)] = new
        # Padding repeats the last position: models have no more of them than their context is long.
        positions[row] = before + np.minimum(np.arange(width), len(new) - 1)
        mask[row, past - before : past + len(new)] = 1
    rows = np.repeat(np.arange(len(tokens)), [len(places) for places in wanted])
    columns = np.array([place for places in wanted for place in places], np.int64)
    tensors = (torch.from_numpy(array).to(device) for array in (ids, positions, mask, rows, columns))
    return Inputs(*tensors)
