"""Teachers as classifiers: a pooled network with a linear head, its training on labelled token sequences, its verdicts.

Two kinds of pooling: the causal model's last position, the encoder's mean. Knows token ids and label indices, no texts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from copydesk.training.news.fine_tune import FineTuning, fine_tune
from copydesk.training.news.llama import Llama
from copydesk.training.news.minilm import Encoder
from copydesk.training.news.sequences import Sequences


class Classifier(nn.Module):
    """A pre-trained network with a new linear head of `labels` outputs."""

    def __init__(self, network: Llama | Encoder, labels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.network = network
        size = network.shape.hidden_size if isinstance(network, Llama) else network.hidden_size
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(size, labels)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Float32 label scores `[batch, labels]` of right-padded `tokens` `[batch, tokens]`."""
        if isinstance(self.network, Llama):
            hidden = self.network(tokens)
            pooled = hidden[torch.arange(len(lengths), device=lengths.device), lengths - 1]
        else:
            pooled = self.network(tokens, lengths)
        scores: Tensor = self.head(self.dropout(pooled))
        return scores.float()


@dataclass(frozen=True, slots=True)
class Labelled:
    """Token sequences with their label indices."""

    sequences: Sequences
    labels: np.ndarray

    def take(self, indices: np.ndarray) -> Labelled:
        return Labelled(self.sequences.take(indices), self.labels[indices])


def train_classifier(
    network: Llama | Encoder, examples: Labelled, plan: FineTuning, labels: int, device: torch.device
) -> Classifier:
    """A classifier fine-tuned from a copy of `network`, on `device`, in evaluation mode."""
    model = Classifier(copy.deepcopy(network), labels).to(device=device, dtype=plan.dtype)
    targets = torch.from_numpy(examples.labels.astype(np.int64)).to(device)

    def loss(indices: np.ndarray) -> Tensor:
        tokens, lengths = examples.sequences.batch(indices, device)
        return functional.cross_entropy(
            model(tokens, lengths), targets[torch.from_numpy(indices).to(device)], label_smoothing=0.02
        )

    fine_tune(model, examples.sequences.lengths, loss, plan)
    return model.eval()


def log_probabilities(
    models: Sequence[Classifier], sequences: Sequences, device: torch.device, tokens_per_batch: int = 65536
) -> np.ndarray:
    """Log-probabilities `[models, rows, labels]` of all sequences, float32."""
    labels = models[0].head.out_features
    result = np.zeros((len(models), len(sequences), labels), np.float32)
    with torch.inference_mode():
        for indices in sequences.batches_by_length(tokens_per_batch):
            tokens, lengths = sequences.batch(indices, device)
            scores = [functional.log_softmax(model(tokens, lengths), -1) for model in models]
            result[:, indices] = torch.stack(scores).cpu().numpy()
    return result
