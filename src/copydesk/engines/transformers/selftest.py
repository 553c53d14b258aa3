"""What a model's own code can be relied on for, found out at load by a few small forwards.

Some models rescale their logits after the projection; some keep other state than keys and values, which cannot be cut
back, or work out positions by themselves. Nothing of this is written in a model's files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from copydesk.engines.transformers.inputs import rows_of_tokens
from copydesk.engines.transformers.network import Network
from copydesk.engines.transformers.pool import Pool, Rows, pass_cache
from copydesk.errors import ModelError

_FIRST = (2, 4, 5)
"""Tokens that rows read in a first pass; in a second they read up to `_LENGTH`."""
_LENGTH = 6
_DIFFERENCE = 10
"""Times the tolerance that scores may differ by: a wrong position makes them differ by far more."""
_SCALE = 64.0
"""Hidden states so large that whatever bends logits shows."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the forwards showed."""

    vocab_size: int
    projects: bool
    """Logits are a projection of hidden states, and nothing is done to them afterwards."""
    cell_bytes: int
    """Keys and values of one token, in bytes; 0 if they cannot be kept from pass to pass."""
    reason: str = ""
    """Why they cannot."""


def examine(network: Network) -> Findings:
    """Try it. Errors: `ModelError` `model_unsupported` when tokens see later ones; PyTorch's when the model fails."""
    tokens = [[(5 * row + 3 * place) % 16 for place in range(_LENGTH)] for row in range(len(_FIRST))]
    everywhere = [tuple(range(_LENGTH))] * len(tokens)
    inputs = rows_of_tokens(tokens, [0] * len(tokens), everywhere, network.device)
    expected = network.read(inputs, None).logits.float().log_softmax(-1)
    expected = expected.view(len(tokens), _LENGTH, -1)
    projects = network.projects_plainly(inputs, _SCALE)
    vocab_size = expected.shape[-1]
    try:
        cell_bytes, found = _in_two_passes(network, tokens)
    except Exception as error:  # whatever a model's own code raises when it is handed a cache that is not its own
        cell_bytes, reason = 0, f"its own code refuses other caches ({type(error).__name__})"
    else:
        differences = [
            _difference(expected[row, first:], rows)
            for row, (first, rows) in enumerate(zip(_FIRST, found, strict=True))
        ]
        if max(differences) <= _DIFFERENCE * network.tolerance:
            return Findings(vocab_size, projects, cell_bytes)
        reason = f"with another cache its scores differ by {max(differences):.2g}"
    beginnings = [row[:1] for row in tokens]
    first = network.read(rows_of_tokens(beginnings, [0] * len(tokens), [(0,)] * len(tokens), network.device), None)
    if _difference(expected[:, 0], first.logits.float().log_softmax(-1)) > _DIFFERENCE * network.tolerance:
        raise ModelError(
            f"{network.name} is no causal model: what comes later changes what it says of what comes first",
            code="model_unsupported",
        )
    return Findings(vocab_size, projects, 0, reason)


def _difference(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def _in_two_passes(network: Network, tokens: list[list[int]]) -> tuple[int, list[Tensor]]:
    """Bytes of a cell, and log-probabilities after what rows read in their second pass, `[tokens, vocab_size]` each."""
    pool = Pool(network.layers, len(tokens) * _LENGTH)
    pasts = [np.empty(0, np.int64)] * len(tokens)
    for number, (begins, ends) in enumerate((([0] * len(tokens), _FIRST), (_FIRST, [_LENGTH] * len(tokens)))):
        parts = [row[begin:end] for row, begin, end in zip(tokens, begins, ends, strict=True)]
        wanted = [tuple(range(len(part))) for part in parts]
        news = [pool.take(len(part)) for part in parts]
        rows = Rows.of(pasts, news)
        inputs = rows_of_tokens(parts, list(begins), wanted, network.device)
        logits = network.read(inputs, pass_cache(pool, network.layers, rows)).logits
        pasts = [np.concatenate(both) for both in zip(pasts, news, strict=True)]
        if number == 0 and not pool.cell_bytes:
            raise RuntimeError("no layer has put anything in")
    return pool.cell_bytes, list(torch.split(logits.float().log_softmax(-1), [len(part) for part in parts]))
