"""From rows of logits to the scores that the desk asked for.

Knows no engine: logits may come from any, with their normalizers if the engine has a cheaper way to them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.protocol import Scores, Wanted
from copydesk.errors import EngineError

Floats = NDArray[np.float32]


def score_rows(logits: Floats, normalizers: Floats, wanted: Sequence[Wanted]) -> list[Scores]:
    """Scores of positions from their `logits` `[rows, vocab_size]` and the logarithm of each row's sum of exponentials.

    Errors: `EngineError` `engine_failed` when the logits are not numbers.
    """
    if not np.isfinite(normalizers).all():
        raise EngineError("the model's scores are not numbers; its weights are damaged", code="engine_failed")
    best = logits.argmax(axis=1)
    logprobs = (np.take_along_axis(logits, best[:, None], 1)[:, 0] - normalizers).tolist()
    rows = zip(logits, normalizers.tolist(), best.tolist(), logprobs, wanted, strict=True)
    return [
        Scores(
            argmax,
            logprob,
            tuple(float(row[token]) - normalizer for token in one.listed),
            tuple((token, score - normalizer) for token, score in top_of(row, one.top)),
        )
        for row, normalizer, argmax, logprob, one in rows
    ]


def normalizers_of(logits: Floats) -> Floats:
    """Natural logarithms of the sums of exponentials of `logits` `[rows, vocab_size]`; not finite if they are not."""
    with np.errstate(invalid="ignore"):
        highest: Floats = logits.max(axis=1)
        total: Floats = np.exp(logits - highest[:, None]).sum(axis=1)
        return highest + np.log(total)


def top_of(row: Floats, count: int) -> list[tuple[int, float]]:
    """The `count` highest of a row's scores, or all of fewer: `(token, score)`, best first, ties by lowest id."""
    if count <= 0:
        return []
    count = min(count, len(row))
    # Every token as good as the last one taken is a candidate, so that ties go to the lowest ids.
    threshold = np.partition(row, -count)[-count]
    candidates = np.flatnonzero(row >= threshold)
    chosen = candidates[np.argsort(-row[candidates], kind="stable")[:count]]
    return [(int(token), float(row[token])) for token in chosen]
