"""The training loop that all teachers share: AdamW on float32 masters of low-precision weights, within a time limit.

The learning rate falls with whichever is further, the steps or the clock, so a slow machine still ends on a small one.
Knows neither what the loss is nor what the batches hold.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

logger = logging.getLogger(__name__)

_LOG_EVERY = 50
_SORTED_BATCHES = 24


@dataclass(frozen=True, slots=True)
class FineTuning:
    """How to train: epochs at most, seconds at most, rows a batch, the peak learning rate."""

    epochs: int
    seconds: float
    batch_rows: int
    learning_rate: float
    dtype: torch.dtype = torch.bfloat16
    weight_decay: float = 0.01
    warm_up: float = 0.06
    """Share of the steps in which the learning rate rises."""
    clip: float = 1.0
    """Largest gradient norm."""
    seed: int = 0


def fine_tune(
    model: nn.Module, lengths: np.ndarray, loss_of: Callable[[np.ndarray], Tensor], plan: FineTuning
) -> float:
    """Trains `model` in place on batches of row indices; `loss_of` gives a batch's loss. Returns the seconds taken."""
    weights: list[Tensor] = [weight for weight in model.parameters() if weight.requires_grad]
    masters = [weight.detach().float().clone() for weight in weights]
    groups = [
        {"params": [m for m in masters if m.ndim >= 2], "weight_decay": plan.weight_decay},
        {"params": [m for m in masters if m.ndim < 2], "weight_decay": 0.0},
    ]
    for master in masters:
        master.grad = torch.zeros_like(master)
    gradients = [master.grad for master in masters if master.grad is not None]
    fused = masters[0].is_cuda
    optimizer = torch.optim.AdamW(groups, lr=plan.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=fused)
    steps = plan.epochs * max(1, len(lengths) // plan.batch_rows)
    started = time.perf_counter()
    model.train()
    for step, indices in enumerate(_batches(lengths, plan)):
        elapsed = time.perf_counter() - started
        progress = max(step / steps, elapsed / plan.seconds)
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = plan.learning_rate * min((step + 1) / (plan.warm_up * steps + 1), (1 - progress) + 0.01)
        loss = loss_of(indices)
        loss.backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            torch._foreach_copy_(gradients, [w.grad if w.grad is not None else torch.zeros_like(w) for w in weights])
            nn.utils.clip_grad_norm_(masters, plan.clip)
            optimizer.step()
            torch._foreach_copy_(weights, masters)
        model.zero_grad(set_to_none=True)
        if step % _LOG_EVERY == 0:
            logger.info("step %d of %d, loss %.4f, %.1f s", step, steps, loss.item(), time.perf_counter() - started)
    if masters[0].is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - started


def _batches(lengths: np.ndarray, plan: FineTuning) -> Iterator[np.ndarray]:
    """Shuffled batches of rows of like length, epoch after epoch."""
    random = np.random.default_rng(plan.seed)
    for _ in range(plan.epochs):
        order = random.permutation(len(lengths))
        # Rows of like length waste no padding; sorting within a window keeps the batches random enough.
        window = plan.batch_rows * _SORTED_BATCHES
        batches: list[np.ndarray] = []
        for start in range(0, len(order), window):
            part = order[start : start + window]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches += [part[at : at + plan.batch_rows] for at in range(0, len(part), plan.batch_rows)]
        # The last, short batch of an epoch would weigh its rows more than others.
        full = [batch for batch in batches if len(batch) == plan.batch_rows] or batches
        yield from (full[number] for number in random.permutation(len(full)))
