"""Several teachers' log-probabilities into one: weights fitted on rows that no teacher had seen, and the scores of it.

The combination is a product of powers, normalised; its powers also calibrate it. Knows no models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True, slots=True)
class Combination:
    """One power for each teacher; a single 1.0 leaves a lone teacher as it is."""

    powers: tuple[float, ...]

    def probabilities(self, logarithms: np.ndarray) -> np.ndarray:
        """Probabilities `[rows, labels]` from the teachers' log-probabilities `[teachers, rows, labels]`."""
        scores = np.einsum("t,trl->rl", np.asarray(self.powers), logarithms)
        exponentials = np.exp(scores - scores.max(1, keepdims=True))
        result: np.ndarray = exponentials / exponentials.sum(1, keepdims=True)
        return result


def fit_combination(logarithms: np.ndarray, labels: np.ndarray) -> Combination:
    """The powers that make `labels` `[rows]` likeliest under `logarithms` `[teachers, rows, labels]`."""
    inputs = torch.from_numpy(logarithms.astype(np.float64))
    targets = torch.from_numpy(labels.astype(np.int64))
    powers = torch.full((len(logarithms),), 1 / len(logarithms), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([powers], max_iter=50, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        # The faint pull to equal shares keeps the fit sane on a handful of rows.
        pull = 1e-3 * ((powers - 1 / len(logarithms)) ** 2).sum()
        loss = torch.nn.functional.cross_entropy(torch.einsum("t,trl->rl", powers, inputs), targets) + pull
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return Combination(tuple(float(power) for power in powers.detach()))


def macro_f1(predicted: np.ndarray, labels: np.ndarray, count: int) -> float:
    """Mean over `count` labels of each label's F1; a label that neither side holds counts 0."""
    scores = []
    for label in range(count):
        hits = int(((predicted == label) & (labels == label)).sum())
        sizes = int((predicted == label).sum() + (labels == label).sum())
        scores.append(2 * hits / sizes if sizes else 0.0)
    return float(np.mean(scores))
