"""Token sequences of many texts, and batches of them, padded on the right and moved to a device.

Knows no tokenizer's kind and no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

_PAD_MULTIPLE = 8


class Sequences:
    """Texts as arrays of token ids. `lengths` holds the tokens of each."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self.arrays = list(arrays)
        self.lengths = np.array([len(array) for array in self.arrays], np.int64)

    def __len__(self) -> int:
        return len(self.arrays)

    def take(self, indices: np.ndarray) -> Sequences:
        """The given rows, in that order."""
        return Sequences(self.arrays[index] for index in indices)

    def batch(self, indices: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
        """Tokens `[batch, tokens]` padded with 0 to a multiple of 8, and lengths `[batch]`, on `device`."""
        longest = int(self.lengths[indices].max())
        padded = np.zeros((len(indices), -(-longest // _PAD_MULTIPLE) * _PAD_MULTIPLE), np.int64)
        for row, index in enumerate(indices):
            padded[row, : self.lengths[index]] = self.arrays[index]
        tokens, lengths = torch.from_numpy(padded), torch.from_numpy(self.lengths[indices])
        if device.type == "cuda":
            tokens, lengths = tokens.pin_memory(), lengths.pin_memory()
        return tokens.to(device, non_blocking=True), lengths.to(device, non_blocking=True)

    def batches_by_length(self, tokens_per_batch: int) -> Iterator[np.ndarray]:
        """Index arrays that cover all rows, each of rows of like length and about `tokens_per_batch` padded tokens."""
        order = np.argsort(self.lengths, kind="stable")[::-1]
        start = 0
        while start < len(order):
            count = max(1, tokens_per_batch // max(1, int(self.lengths[order[start]])))
            yield order[start : start + count]
            start += count


def tokenise(tokenizer: Tokenizer, texts: Sequence[str], *, limit: int, wrap: int | None = None) -> Sequences:
    """Encodes texts, cut to `limit` tokens in all. With `wrap`, that token stands before and after each text; without
    it the tokenizer's own template applies, and its last token stays when a text is cut."""
    arrays = []
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=wrap is None):
        ids = encoding.ids
        if wrap is not None:
            ids = [wrap, *ids[: limit - 2], wrap]
        elif len(ids) > limit:
            ids = [*ids[: limit - 1], ids[-1]]
        arrays.append(np.array(ids, np.int32))
    return Sequences(arrays)
