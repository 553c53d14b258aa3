import time

import numpy as np
import torch
from torch import Tensor, nn

from copydesk.training.news.fine_tune import FineTuning, fine_tune


def test_small_steps_add_up_in_low_precision() -> None:
    """A step far below the weight's own precision would be lost without the float32 masters."""
    model = nn.Linear(1, 1, bias=False).to(torch.bfloat16)
    nn.init.constant_(model.weight, 100.0)
    plan = FineTuning(400, 60, 4, 0.01, weight_decay=0.0)
    fine_tune(model, np.ones(4, np.int64), lambda rows: model.weight.float().sum() * len(rows), plan)
    assert 97.5 < float(model.weight.detach()) < 98.5


def test_every_row_is_seen_once_an_epoch() -> None:
    model, seen = nn.Linear(1, 1), []

    def loss(indices: np.ndarray) -> Tensor:
        seen.extend(indices.tolist())
        return model(torch.ones(1, 1)).sum()

    fine_tune(model, np.arange(12), loss, FineTuning(2, 60, 4, 0.1, dtype=torch.float32))
    assert sorted(seen) == sorted([*range(12), *range(12)])


def test_the_clock_ends_it() -> None:
    model = nn.Linear(1, 1)

    def loss(indices: np.ndarray) -> Tensor:
        time.sleep(0.02)
        return model(torch.ones(1, 1)).sum()

    assert fine_tune(model, np.ones(1000), loss, FineTuning(50, 0.2, 2, 0.1, dtype=torch.float32)) < 5
