"""What a GPU can do at most: how fast it reads memory and multiplies matrices, measured. Knows no model's workings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from copydesk.models.config import ModelConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one GPU."""

    bytes_per_second: float
    flops: float
    """Of a bf16 matrix product, a second."""

    @classmethod
    def measured(cls) -> Limits:
        """By summing 4 GB and by multiplying matrices of 8,192 rows and columns, the best of several."""
        import torch

        limits = cls(_bytes_per_second(), _flops())
        torch.cuda.empty_cache()  # what is loaded next takes what is free
        return limits

    def seconds(self, cost: Cost) -> float:
        """The least that a forward can take."""
        return max(cost.bytes / self.bytes_per_second, cost.flops / self.flops)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a forward cannot do without: weights read once, and products of every token with every matrix."""

    bytes: float
    flops: float

    @classmethod
    def of(cls, config: ModelConfig, tokens: float, scored: float, forwards: float = 1.0) -> Cost:
        """Of `tokens` read and `scored` positions in so many forwards, in bf16; without attention, which is little."""
        heads = 2 * config.num_attention_heads + 2 * config.num_key_value_heads
        layer = config.hidden_size * (heads * config.head_dim + 3 * config.intermediate_size)
        network, head = config.num_hidden_layers * layer, config.vocab_size * config.hidden_size
        return cls(2 * forwards * (network + head), 2 * (tokens * network + scored * head))


def _bytes_per_second() -> float:
    import torch

    data = torch.ones(2 * 10**9, dtype=torch.bfloat16, device="cuda")
    read, copied = _seconds(lambda: torch.sum(data.view(torch.int32))), _seconds(data.clone)
    return max(data.nbytes / read, 2 * data.nbytes / copied)


def _flops() -> float:
    import torch

    left, right = (torch.randn(8192, 8192, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    return 2 * 8192**3 / _seconds(lambda: left @ right)


def _seconds(run: Callable[[], object]) -> float:
    import torch

    best = float("inf")
    for _ in range(8):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) / 1e3)
    return best
