"""Masters, Muon and the moving average."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from copydesk.training.network import Qwen3, Shape
from copydesk.training.optimizer import Masters, orthogonalised
from copydesk.training.quantize import rounded
from copydesk.training.recipe import Optimiser

SHAPE = Shape(50, 32, 48, 2, 2, 1, 16, max_position_embeddings=32)
PLAIN = Optimiser(matrix_rate=0.05, rate=0.01, weight_decay=0.0)


def masters_with_gradients(settings: Optimiser, seed: int = 0) -> Masters:
    network = Qwen3(SHAPE)
    network.initialise(1)
    masters = Masters(network, settings)
    give_gradients(masters, seed)
    return masters


def give_gradients(masters: Masters, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for copy in masters.copies.values():
        copy.grad = torch.randn(copy.shape, generator=generator)


@pytest.mark.parametrize("size", [(3, 8, 20), (2, 20, 8), (1, 16, 16)])
def test_orthogonalised_matrices_keep_directions_and_lose_lengths(size: tuple[int, int, int]) -> None:
    matrices = torch.randn(size, generator=torch.Generator().manual_seed(0)) * 7
    result = orthogonalised(matrices)
    singular = torch.linalg.svdvals(result)
    assert singular.min() > 0.4
    assert singular.max() < 1.4
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    assert torch.nn.functional.cosine_similarity((left @ right).flatten(1), result.flatten(1)).min() > 0.95


@pytest.mark.parametrize("kind", ["muon", "adamw"])
def test_a_step_goes_down_the_gradient_at_the_rate_given(kind: str) -> None:
    masters = masters_with_gradients(replace(PLAIN, kind=kind))
    before = {name: weight.clone() for name, weight in masters.weights.items()}
    masters.step(0.0)
    assert all(torch.equal(before[name], weight) for name, weight in masters.weights.items())
    give_gradients(masters, 1)
    norm = masters.step(1.0)
    assert norm > 10
    for name, weight in masters.weights.items():
        change = weight - before[name]
        assert (change * masters.copies[name].grad).sum() < 0, name


def test_the_network_computes_with_plain_or_rounded_copies() -> None:
    masters = masters_with_gradients(PLAIN)
    masters.refresh(quantised=True)
    for name, copy in masters.copies.items():
        assert torch.equal(copy.detach(), rounded(masters.weights[name]))
    masters.refresh(quantised=False)
    for name, copy in masters.copies.items():
        assert torch.equal(copy.detach(), masters.weights[name])


def test_the_average_follows_the_weights() -> None:
    masters = masters_with_gradients(replace(PLAIN, average=0.5))
    start = masters.weights["model.norm.weight"].clone()
    for seed in range(40):
        give_gradients(masters, seed)
        masters.step(1.0)
    for seed in range(40):
        give_gradients(masters, seed)
        masters.step(0.0)
    assert not torch.equal(masters.averages["model.norm.weight"], start)
    torch.testing.assert_close(masters.averages["model.norm.weight"], masters.weights["model.norm.weight"])


def test_restored_masters_go_on_as_if_nothing_had_happened() -> None:
    through = masters_with_gradients(PLAIN)
    through.step(1.0)
    state = dict(through.state().items())
    again = masters_with_gradients(PLAIN, seed=9)
    again.restore(torch.load(_saved(state), weights_only=True))
    for masters in (through, again):
        give_gradients(masters, 5)
        masters.step(0.7)
    for name, weight in through.weights.items():
        assert torch.equal(weight, again.weights[name]), name
        assert torch.equal(through.averages[name], again.averages[name]), name


def _saved(state: dict) -> object:  # type: ignore[type-arg]
    import io

    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return buffer
