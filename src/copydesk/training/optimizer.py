"""Float32 master weights and how gradients change them: Muon for the matrices within layers, AdamW for the rest.

The network computes with copies of the masters, plain or rounded to the product's format; a gradient with respect to a
rounded copy is applied to its master unchanged (the straight-through estimate of quantisation-aware training).
Muon: Keller Jordan and others, "Muon: an optimizer for hidden layers in neural networks" (2024),
https://kellerjordan.github.io/posts/muon/. Knows no data and no schedule.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from copydesk.training.quantize import rounded_all
from copydesk.training.recipe import Optimiser

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


def orthogonalised(matrices: Tensor, steps: int = 5) -> Tensor:
    """Each matrix of `[count, rows, columns]` with its singular values pushed towards 1, by Newton-Schulz iteration."""
    a, b, c = _NEWTON_SCHULZ
    x = matrices.bfloat16() if matrices.is_cuda else matrices
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: Tensor = x.mT if tall else x
    return result.float()


class Masters:
    """The weights that are trained, their moving average, and the optimiser's memory."""

    def __init__(self, network: nn.Module, settings: Optimiser) -> None:
        self.settings = settings
        self.copies: dict[str, nn.Parameter] = dict(network.named_parameters())
        self.weights = {name: copy.detach().float().clone() for name, copy in self.copies.items()}
        self.averages = {name: weight.clone() for name, weight in self.weights.items()}
        self._gradients = {name: torch.zeros_like(weight) for name, weight in self.weights.items()}
        self.steps = 0
        hidden = [name for name, weight in self.weights.items() if weight.ndim == 2 and "embed" not in name]
        matrices = hidden if settings.kind == "muon" else []
        self._groups: dict[tuple[int, ...], list[str]] = {}
        for name in matrices:
            self._groups.setdefault(tuple(self.weights[name].shape), []).append(name)
        self._momenta = {
            shape: torch.stack([torch.zeros_like(self.weights[name]) for name in names])
            for shape, names in self._groups.items()
        }
        self._adam_names = [name for name in self.weights if name not in set(matrices)]
        decayed = [name for name in self._adam_names if self.weights[name].ndim == 2]
        plain = [name for name in self._adam_names if self.weights[name].ndim != 2]
        groups = [
            {"params": [self._adam_parameter(name) for name in names], "weight_decay": decay}
            for names, decay in ((decayed, settings.weight_decay), (plain, 0.0))
            if names
        ]
        on_gpu = next(iter(self.weights.values())).is_cuda
        self._adam = torch.optim.AdamW(groups, lr=settings.rate, betas=settings.betas, eps=1e-10, fused=on_gpu or None)

    def _adam_parameter(self, name: str) -> Tensor:
        parameter = self.weights[name]
        parameter.grad = self._gradients[name]
        return parameter

    @torch.no_grad()
    def step(self, rate: float) -> Tensor:
        """One update from the gradients of the network's copies; `rate` scales both learning rates (0 to 1).

        Returns the gradient's norm before clipping, still on the device.
        """
        names = list(self.weights)
        gradients = [self._gradients[name] for name in names]
        torch._foreach_copy_(gradients, [_gradient(self.copies[name]) for name in names])
        norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        torch._foreach_mul_(gradients, (self.settings.clip / (norm + 1e-6)).clamp(max=1.0))
        for group in self._adam.param_groups:
            group["lr"] = self.settings.rate * rate
        self._adam.step()
        for shape, members in self._groups.items():
            self._muon(shape, members, self.settings.matrix_rate * rate)
        self.steps += 1
        # The average forgets its random start: its horizon grows with the steps until it is the one asked for.
        decay = min(self.settings.average, self.steps / (self.steps + 10))
        torch._foreach_lerp_(list(self.averages.values()), list(self.weights.values()), 1 - decay)
        return norm

    def _muon(self, shape: tuple[int, ...], members: list[str], rate: float) -> None:
        gradient = torch.stack([self._gradients[name] for name in members])
        momentum = self._momenta[shape]
        momentum.lerp_(gradient, 1 - self.settings.momentum)
        update = orthogonalised(gradient.lerp(momentum, self.settings.momentum))
        scale = max(1.0, shape[0] / shape[1]) ** 0.5
        weights = [self.weights[name] for name in members]
        torch._foreach_mul_(weights, 1 - rate * self.settings.weight_decay)
        torch._foreach_add_(weights, list(update.unbind()), alpha=-rate * scale)

    @torch.no_grad()
    def refresh(self, *, quantised: bool, averages: bool = False) -> None:
        """Writes the masters (or their averages) into the network's copies, rounded to the product's format or not."""
        source = self.averages if averages else self.weights
        values = rounded_all(source) if quantised else source
        torch._foreach_copy_([copy.data for copy in self.copies.values()], [values[name] for name in self.copies])

    def state(self) -> dict[str, Any]:
        """Everything that a resumed run needs, as tensors and plain values."""
        return {
            "weights": self.weights,
            "averages": self.averages,
            "momenta": {str(shape): momentum for shape, momentum in self._momenta.items()},
            "adam": self._adam.state_dict(),
            "steps": self.steps,
        }

    @torch.no_grad()
    def restore(self, state: dict[str, Any]) -> None:
        for name, weight in self.weights.items():
            weight.copy_(state["weights"][name])
            self.averages[name].copy_(state["averages"][name])
        for shape, momentum in self._momenta.items():
            momentum.copy_(state["momenta"][str(shape)])
        self._adam.load_state_dict(state["adam"])
        self.steps = int(state["steps"])

    @torch.no_grad()
    def start_from(self, weights: dict[str, Tensor]) -> None:
        """Replaces the weights, forgetting the averages (a warm start from a finished model)."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])
            self.averages[name].copy_(weights[name])


def _gradient(copy: Tensor) -> Tensor:
    if copy.grad is None:
        raise RuntimeError("a step needs the gradient of every weight")
    return copy.grad
