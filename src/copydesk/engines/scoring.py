"""From rows of logits to the scores that the desk asked for.

Knows no engine: `logits` may come from any.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.protocol import Scores, Wanted
from copydesk.errors import EngineError

Floats = NDArray[np.float32]


def score_row(logits: Floats, wanted: Wanted, scratch: Floats) -> Scores:
    """Scores of one position from its `logits` `[vocab_size]`; `scratch` `[vocab_size]` is overwritten.

    Errors: `EngineError` `engine_failed` when the logits are not numbers.
    """
    argmax = int(logits.argmax())
    highest = float(logits[argmax])
    normalizer = log_normalizer(logits, highest, scratch)
    listed = tuple(float(logits[token]) - normalizer for token in wanted.listed)
    return Scores(argmax, highest - normalizer, listed, _top(logits, normalizer, wanted.top))


def log_normalizer(logits: Floats, highest: float, scratch: Floats) -> float:
    """Natural logarithm of the sum of the exponentials of `logits` `[vocab_size]`; `highest` is their maximum.

    `scratch` `[vocab_size]` is overwritten. Errors: `EngineError` `engine_failed` when the logits are not numbers.
    """
    # NumPy's maximum is NaN if any logit is.
    if not math.isfinite(highest):
        raise EngineError("the model's scores are not numbers; its weights are damaged", code="engine_failed")
    np.subtract(logits, np.float32(highest), out=scratch)
    np.exp(scratch, out=scratch)
    return highest + math.log(scratch.sum())


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities `[vocab_size]` of one row of logits, in new memory."""
    highest = float(logits.max())
    result = np.empty_like(logits)
    np.subtract(logits, np.float32(log_normalizer(logits, highest, result)), out=result)
    return result


def _top(logits: Floats, normalizer: float, count: int) -> tuple[tuple[int, float], ...]:
    if count <= 0:
        return ()
    count = min(count, len(logits))
    # Every token as good as the last one taken is a candidate, so that ties go to the lowest ids.
    threshold = np.partition(logits, -count)[-count]
    candidates = np.flatnonzero(logits >= threshold)
    order = np.argsort(-logits[candidates], kind="stable")[:count]
    chosen = candidates[order]
    return tuple((int(token), float(logits[token]) - normalizer) for token in chosen)
