"""What a model says of tokens by Transformers itself, in float32 and in one piece: the reference for every engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


def reference_rows(folder: Path, tokens: Sequence[int]) -> np.ndarray:
    """Log-probabilities `[tokens, vocab_size]` after each of `tokens`, by the model in an ordinary `folder`.

    (The built-in model's own form has first to be written out: `copydesk.models.unpacked`.)
    """
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return model(torch.tensor([list(tokens)])).logits[0].log_softmax(-1).numpy()
