"""Greedy decoding of many prompts at once with the training network, for measuring a model while it is trained.

No grammar and no drafts: what the bare model would say. Knows token ids only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from copydesk.training.network import Qwen3, Rotary


@dataclass
class _Cache:
    """One layer's keys and values `[batch, length, key_value_heads, head_dim]`, where it writes, what it sees."""

    keys: Tensor
    values: Tensor
    start: int = 0
    mask: Tensor | None = None


def _attend(q: Tensor, k: Tensor, v: Tensor, cache: _Cache) -> Tensor:
    end = cache.start + q.shape[1]
    cache.keys[:, cache.start : end] = k
    cache.values[:, cache.start : end] = v
    repeats = q.shape[2] // k.shape[2]
    keys = cache.keys[:, :end].repeat_interleave(repeats, dim=2).transpose(1, 2)
    values = cache.values[:, :end].repeat_interleave(repeats, dim=2).transpose(1, 2)
    out = F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, attn_mask=cache.mask)
    return out.transpose(1, 2)


class Decoder:
    """Runs the network over batches of prompts of like length, padded on the left."""

    def __init__(self, network: Qwen3, rotary: Rotary, batch: int = 256) -> None:
        self.network, self.rotary, self.batch = network, rotary, batch

    @torch.no_grad()
    def greedy(self, prompts: Sequence[Sequence[int]], *, end: int, at_most: int) -> list[list[int]]:
        """The answer's tokens for each prompt, in order, without the `end` token.

        They are at most `at_most`, and no more than the context holds beside the prompt.
        """
        answers: list[list[int]] = [[] for _ in prompts]
        for chosen in self._batches(prompts):
            run = _Run(self, [prompts[index] for index in chosen], at_most)
            token = run.read(run.tokens).argmax(-1)
            said = [token]
            finished = token == end
            for step in range(1, at_most):
                # Looking at the device waits for it, so it is done now and then only.
                if step % 8 == 0 and bool(finished.all()):
                    break
                token = run.read(token[:, None]).argmax(-1)
                finished |= token == end
                said.append(token)
            for index, row in zip(chosen, torch.stack(said, dim=1).tolist(), strict=True):
                row = row[: max(0, self.network.shape.max_position_embeddings - len(prompts[index]))]
                answers[index] = row[: row.index(end)] if end in row else row
        return answers

    @torch.no_grad()
    def next_scores(self, prompts: Sequence[Sequence[int]], listed: Sequence[int]) -> list[list[float]]:
        """Log-probabilities, over the whole vocabulary, of the listed tokens as each prompt's next token."""
        scores: list[list[float]] = [[] for _ in prompts]
        for chosen in self._batches(prompts):
            run = _Run(self, [prompts[index] for index in chosen], 0)
            rows = run.read(run.tokens).float().log_softmax(-1)[:, list(listed)].tolist()
            for index, row in zip(chosen, rows, strict=True):
                scores[index] = row
        return scores

    def _batches(self, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        return [order[start : start + self.batch] for start in range(0, len(order), self.batch)]


class _Run:
    """One batch: the caches, and how far it has read."""

    def __init__(self, decoder: Decoder, prompts: Sequence[Sequence[int]], further: int) -> None:
        self._network, self._rotary = decoder.network, decoder.rotary
        embedding = self._network.embedding
        longest = max(map(len, prompts))
        padding = [longest - len(prompt) for prompt in prompts]
        rows = [[0] * pad + list(prompt) for pad, prompt in zip(padding, prompts, strict=True)]
        self.tokens = torch.tensor(rows, device=embedding.device)
        self._padding = torch.tensor(padding, device=embedding.device)
        shape = self._network.shape
        size = (len(prompts), longest + further, shape.num_key_value_heads, shape.head_dim)
        self._caches = [
            _Cache(embedding.new_zeros(size), embedding.new_zeros(size)) for _ in range(shape.num_hidden_layers)
        ]
        self._read = 0

    def read(self, tokens: Tensor) -> Tensor:
        """Logits `[batch, vocabulary]` after the last of `tokens` `[batch, count]`."""
        end = self._read + tokens.shape[1]
        queries = torch.arange(self._read, end, device=tokens.device)
        keys = torch.arange(end, device=tokens.device)
        visible = (keys <= queries[:, None]) & (keys >= self._padding[:, None, None])
        # A padded place sees itself, or it would see nothing and become NaN.
        mask = (visible | (keys == queries[:, None])).unsqueeze(1)
        # Padding stands before the first place; what runs away goes on at the last one, and is cut off afterwards.
        last = self._network.shape.max_position_embeddings - 1
        positions = (queries - self._padding[:, None]).clamp(0, last)
        for cache in self._caches:
            cache.start, cache.mask = self._read, mask
        hidden = self._network(tokens, *self._rotary.at(positions), _attend, self._caches)
        self._read = end
        return self._network.logits(hidden[:, -1])
