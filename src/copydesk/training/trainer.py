"""One training step on one device: a packed block through the network, the loss at scored positions, the update.

Finds out by trying which attention kernel runs here and whether compiling pays. Knows no clock, no files, no examples.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from copydesk.training.attention import choose, positions_of_each
from copydesk.training.blocks import BlockSize, views
from copydesk.training.network import Qwen3, Rotary, Shape
from copydesk.training.optimizer import Masters
from copydesk.training.recipe import Recipe

_IN_FLIGHT = 4
"""Steps that the host may be ahead of the device."""


def position_losses(hidden: Tensor, embedding: Tensor, places: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Cross entropy at the scored positions, float32 `[scored]`; only they go through the output projection."""
    logits = F.linear(hidden.index_select(0, places), embedding)
    return F.cross_entropy(logits.float(), targets, reduction="none", label_smoothing=smoothing)


class Trainer:
    """The network, its masters and everything that a step needs ready on the device."""

    def __init__(self, recipe: Recipe, shape: Shape, seed: int, device: torch.device) -> None:
        self.recipe, self.shape, self.device = recipe, shape, device
        size = recipe.block
        self.dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        network = Qwen3(shape, recipe.network.dropout)
        network.initialise(seed)
        self.network = network.to(device)
        self.masters = Masters(self.network, recipe.optimiser)
        self.network.to(self.dtype)
        self._rotary = Rotary(shape, device)
        self._attention = choose(
            recipe.attention, shape, device, self.dtype, tokens=size.tokens, row=size.row, longest=size.longest
        )
        self._losses: Callable[..., Tensor] = position_losses
        self.sums = torch.zeros(max(1, len(recipe.sources)), 4, device=device)
        """For each source: answer loss and its weight, text loss and its weight, since they were last read."""
        self._events: list[torch.cuda.Event] = []
        self.kernel, self.compiled = self._attention.kernel, False

    def describe(self) -> str:
        return f"{self.device} {self.dtype} attention {self.kernel} {'compiled' if self.compiled else 'eager'}"

    def step(self, flat: np.ndarray, *, rate: float, text: float, quantised: bool) -> Tensor:
        """Trains on one flat block and updates the masters; returns the gradient's norm, on the device.

        `rate`: the learning rate's factor. `text`: the factor of the text loss. `quantised`: whether the next forward
        pass uses the rounded weights.
        """
        self._backward(self._moved(flat), text)
        norm = self.masters.step(rate)
        self.masters.refresh(quantised=quantised)
        self._wait()
        return norm

    def flops(self) -> float:
        """Floating-point operations of a step's matrix products, forwards and backwards (6 per weight and position)."""
        size = self.recipe.block
        layers = sum(
            copy.numel() for name, copy in self.masters.copies.items() if copy.ndim == 2 and "embed" not in name
        )
        return 6.0 * (layers * size.tokens + self.network.embedding.numel() * size.scored)

    def read_sums(self) -> list[list[float]]:
        """The sums so far, which start again from zero."""
        sums: list[list[float]] = self.sums.tolist()
        self.sums.zero_()
        return sums

    def choose_compilation(self) -> None:
        """Compiles the layers and the loss if that works and is faster here than not (recipe: `auto`, `on`, `off`)."""
        wanted = self.recipe.compile
        if wanted == "off":
            return
        block = self._moved(rehearsal_block(self.recipe.block, self.shape.vocab_size))
        eager = self._timed(block)
        try:
            started = time.monotonic()
            for layer in self.network.layers:
                layer.compile(dynamic=False)
            self._losses = torch.compile(position_losses, dynamic=False)
            self._backward(block, 1.0)
            took = time.monotonic() - started
            compiled = self._timed(block)
        except Exception as error:
            sys.stderr.write(f"compile: {type(error).__name__}: {str(error).splitlines()[0]}\n")
            compiled, took = float("inf"), 0.0
        sys.stderr.write(f"compile: {eager * 1e3:.1f} ms eager, {compiled * 1e3:.1f} ms compiled (in {took:.1f} s)\n")
        self.compiled = compiled < (float("inf") if wanted == "on" else eager)
        if not self.compiled:
            for layer in self.network.layers:
                layer._compiled_call_impl = None
            self._losses = position_losses
        self.sums.zero_()

    def _timed(self, block: Tensor, steps: int = 3) -> float:
        """Seconds of one forward and backward pass."""
        self._backward(block, 1.0)
        self._finish()
        started = time.monotonic()
        for _ in range(steps):
            self._backward(block, 1.0)
        self._finish()
        return (time.monotonic() - started) / steps

    def _backward(self, flat: Tensor, text: float) -> None:
        size = self.recipe.block
        block = views(flat, size, torch.float32)
        self.network.train()
        for copy in self.masters.copies.values():
            copy.grad = None
        cos, sin = self._rotary.at(positions_of_each(block.bounds, size.tokens))
        context = self._attention.context(block.bounds)
        hidden = self.network(block.tokens, cos, sin, self._attention.attend, [context] * self.shape.num_hidden_layers)
        losses = self._losses(
            hidden, self.network.embedding, block.places, block.targets.long(), self.recipe.label_smoothing
        )
        text_weights = block.text_weights * text
        weights = block.answer_weights + text_weights
        ((losses * weights).sum() / weights.sum().clamp(min=1e-6)).backward()
        with torch.no_grad():
            detached = losses.detach()
            answer, text_only = block.answer_weights, block.text_weights
            parts = torch.stack((detached * answer, answer, detached * text_only, text_only), dim=1)
            self.sums.index_add_(0, block.sources, parts)

    def _moved(self, flat: np.ndarray) -> Tensor:
        host = torch.from_numpy(flat)
        if self.device.type != "cuda":
            return host
        return host.pin_memory().to(self.device, non_blocking=True)

    def _wait(self) -> None:
        if self.device.type != "cuda":
            return
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self._events.append(event)
        if len(self._events) > _IN_FLIGHT:
            self._events.pop(0).synchronize()

    def _finish(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def rehearsal_block(size: BlockSize, vocab_size: int) -> np.ndarray:
    """A flat block of random tokens in segments of like length, to try and to time things with."""
    rng = np.random.default_rng(0)
    flat = np.zeros(size.words, dtype=np.int32)
    block = views(flat, size)
    block.tokens[:] = rng.integers(0, vocab_size, size.tokens)
    length = min(128, size.longest)
    starts = [start for row in range(0, size.tokens, size.row) for start in range(row, row + size.row, length)]
    block.bounds[: len(starts)] = starts
    block.bounds[len(starts) :] = size.tokens
    block.places[:] = rng.integers(0, size.tokens, size.scored)
    block.targets[:] = rng.integers(0, vocab_size, size.scored)
    block.answer_weights[:] = 1.0
    return flat
