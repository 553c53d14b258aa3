"""Rows of tokens as tensors: every token at its position, padding masked."""

from __future__ import annotations

import torch

from copydesk.engines.transformers.inputs import rows_of_tokens


def test_pasts_end_and_new_tokens_begin_in_one_place() -> None:
    inputs = rows_of_tokens([[7, 8], [9]], [1, 3], [(0, 1), (0,)], torch.device("cpu"))
    assert inputs.tokens.tolist() == [[7, 8], [9, 0]]
    assert inputs.positions.tolist() == [[1, 2], [3, 3]]
    assert inputs.mask.tolist() == [[0, 0, 1, 1, 1], [1, 1, 1, 1, 0]]
    assert inputs.wanted_rows.tolist() == [0, 0, 1]
    assert inputs.wanted_columns.tolist() == [0, 1, 0]


def test_nothing_wanted() -> None:
    inputs = rows_of_tokens([[7, 8]], [0], [()], torch.device("cpu"))
    assert inputs.wanted_rows.dtype == inputs.wanted_columns.dtype == torch.int64
    assert len(inputs.wanted_columns) == 0
