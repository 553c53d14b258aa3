"""Scores of rows of logits, worked out where the logits are: only what was asked for comes to the computer's memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from copydesk.engines.protocol import Scores, Wanted
from copydesk.engines.scoring import top_of
from copydesk.errors import EngineError

_ROWS_AT_ONCE = 256
"""Rows that are widened to float32 at a time."""


def score(logits: Tensor, wanted: Sequence[Wanted]) -> list[Scores]:
    """Scores of positions from their `logits` `[positions, vocab_size]`, of any floating type.

    Errors: `EngineError` `engine_failed` when the logits are not numbers.
    """
    scores: list[Scores] = []
    for begin in range(0, len(wanted), _ROWS_AT_ONCE):
        end = begin + _ROWS_AT_ONCE
        scores += _score(logits[begin:end].float(), wanted[begin:end])
    return scores


def _score(logits: Tensor, wanted: Sequence[Wanted]) -> list[Scores]:
    normalizers = logits.logsumexp(1)
    best = logits.argmax(1)
    rows = [row for row, one in enumerate(wanted) for _ in one.listed]
    tokens = [token for one in wanted for token in one.listed]
    picked_rows, picked = (torch.tensor(ids, dtype=torch.int64).to(logits.device) for ids in (rows, tokens))
    listed = logits[picked_rows, picked] - normalizers[picked_rows]
    highest = logits.gather(1, best[:, None])[:, 0] - normalizers
    numbers = torch.cat([normalizers, highest, listed]).tolist()
    if not all(map(_is_number, numbers[: len(wanted)])):
        raise EngineError("the model's scores are not numbers; its weights are damaged", code="engine_failed")
    scores, place = [], 2 * len(wanted)
    for row, (one, argmax) in enumerate(zip(wanted, best.tolist(), strict=True)):
        best_rows = top_of(logits[row].cpu().numpy(), one.top) if one.top else []
        top = tuple((token, score - numbers[row]) for token, score in best_rows)
        own = tuple(numbers[place : place + len(one.listed)])
        scores.append(Scores(argmax, numbers[len(wanted) + row], own, top))
        place += len(one.listed)
    return scores


def _is_number(value: float) -> bool:
    return -float("inf") < value < float("inf")
