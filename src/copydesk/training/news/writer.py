"""The writing teacher: a causal model tuned on the training texts, and new texts sampled from it in large batches.

Texts are written without a label (the other teachers judge them afterwards), so the tuned network can start those
teachers without telling them any label of a row they are later asked about. Knows no labels and no files.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from copydesk.training.news.fine_tune import FineTuning, fine_tune
from copydesk.training.news.llama import Cache, Llama
from copydesk.training.news.sequences import Sequences

_CHECK_EVERY = 8
_KEEP_BELOW = 0.85


def train_writer(network: Llama, sequences: Sequences, plan: FineTuning, device: torch.device) -> Llama:
    """A copy of `network` tuned to continue the sequences, in evaluation mode on `device`."""
    model = copy.deepcopy(network).to(device=device, dtype=plan.dtype)

    def loss(indices: np.ndarray) -> Tensor:
        tokens, lengths = sequences.batch(indices, device)
        positions = torch.arange(tokens.shape[1] - 1, device=device)
        real = positions[None] < lengths[:, None] - 1
        hidden = model(tokens)[:, :-1][real]
        return functional.cross_entropy(model.scores(hidden).float(), tokens[:, 1:][real])

    fine_tune(model, sequences.lengths, loss, plan)
    return model.eval()


@torch.inference_mode()
def write(
    model: Llama, *, batch: int, end: int, limit: int, temperature: float, top_p: float, top_k: int = 256
) -> list[np.ndarray]:
    """Samples `batch` sequences that start after the token `end`; returns those that end within `limit` tokens.

    The returned arrays hold neither the first nor the last `end`. Sampling is top-p within the `top_k` likeliest
    tokens. Seed torch's generator for repeatable results.
    """
    device = model.embedding.device
    cache = Cache(model.shape, batch, limit, model.embedding)
    written = torch.full((batch, limit), end, dtype=torch.int64, device=device)
    done = torch.zeros(batch, dtype=torch.bool, device=device)
    finished: list[np.ndarray] = []
    for position in range(limit - 1):
        scores = model.scores(model.step(written[:, position], cache, position))
        chosen = _sample(scores, temperature, top_p, top_k)
        # A finished sequence goes on with `end`, so its own end is the first one after the start.
        chosen = torch.where(done, end, chosen)
        written[:, position + 1] = chosen
        done |= chosen == end
        if (position + 1) % _CHECK_EVERY == 0 or position == limit - 2:
            alive = torch.nonzero(~done).flatten()
            if len(alive) > _KEEP_BELOW * len(done) and position < limit - 2:
                continue
            for row in written[done].cpu().numpy():
                ends = np.flatnonzero(row[1:] == end)
                finished.append(row[1 : 1 + ends[0]])
            if len(alive) == 0:
                break
            written, done = written[alive], done[alive]
            cache.keep(alive)
    return finished


def _sample(scores: Tensor, temperature: float, top_p: float, top_k: int) -> Tensor:
    """One token a row, `[batch]`, from scores `[batch, vocabulary]`."""
    values, tokens = scores.topk(min(top_k, scores.shape[-1]), -1)
    values = values.float() / temperature
    logarithms = values - torch.logsumexp(scores.float() / temperature, -1, keepdim=True)
    before = logarithms.exp().cumsum(-1) - logarithms.exp()
    logarithms = logarithms.masked_fill(before >= top_p, float("-inf"))
    noise = -torch.empty_like(logarithms).exponential_().log()
    return tokens.gather(-1, (logarithms + noise).argmax(-1, keepdim=True))[:, 0]
