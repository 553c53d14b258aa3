"""A step lowers the loss, counts what it scored, and is the same computation compiled or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from copydesk.training.blocks import BlockSize, views
from copydesk.training.network import Shape
from copydesk.training.recipe import Optimiser, Recipe, Source
from copydesk.training.trainer import Trainer, position_losses, rehearsal_block

SHAPE = Shape(60, 32, 48, 2, 2, 1, 16, max_position_embeddings=64)
RECIPE = Recipe(
    sources=(Source("one", "x:y"), Source("two", "x:y")),
    block=BlockSize(tokens=128, row=64, longest=32, scored_share=0.5),
    optimiser=Optimiser(rate=0.01),
    compile="off",
    attention="masked",
)


def trainer(recipe: Recipe = RECIPE) -> Trainer:
    made = Trainer(recipe, SHAPE, 0, torch.device("cpu"))
    made.masters.refresh(quantised=False)
    return made


def block() -> np.ndarray:
    flat = rehearsal_block(RECIPE.block, 60)
    parts = views(flat, RECIPE.block)
    parts.places[:] = np.arange(64)
    parts.targets[:32] = parts.tokens[:32]
    parts.targets[32:] = (parts.tokens[32:64] + 7) % 60
    parts.answer_weights[32:] = 0
    parts.text_weights[32:] = 0.5
    parts.sources[32:] = 1
    return flat


def test_steps_on_one_block_learn_it() -> None:
    training = trainer()
    for _ in range(30):
        training.step(block(), rate=1.0, text=1.0, quantised=False)
    first = training.read_sums()
    for _ in range(30):
        training.step(block(), rate=1.0, text=1.0, quantised=False)
    last = training.read_sums()
    assert last[0][0] < first[0][0] / 2
    assert last[1][2] < first[1][2] / 2
    assert (last[0][1], last[0][3], last[1][1], last[1][3]) == (30 * 32, 0, 0, 30 * 16)


def test_without_text_weight_the_text_is_not_learned() -> None:
    training = trainer()
    for _ in range(30):
        training.step(block(), rate=1.0, text=0.0, quantised=False)
    sums = training.read_sums()
    assert sums[1][2] / sums[1][3] > 4 > 3 > sums[0][0] / sums[0][1]


def test_quantised_steps_leave_the_rounded_weights_in_the_network() -> None:
    training = trainer()
    training.step(block(), rate=1.0, text=1.0, quantised=True)
    weight = training.network.embedding.detach()
    steps = weight.abs().amax(dim=1, keepdim=True) / weight.abs().clamp(min=1e-12)
    assert torch.isfinite(steps).all()
    assert len(torch.unique(weight[0])) <= 255
    assert not torch.equal(weight, training.masters.weights["model.embed_tokens.weight"])


def test_losses_are_cross_entropy_at_the_places_with_smoothing() -> None:
    generator = torch.Generator().manual_seed(0)
    hidden, embedding = torch.randn(10, 8, generator=generator), torch.randn(20, 8, generator=generator)
    places, targets = torch.tensor([3, 3, 9]), torch.tensor([1, 2, 19])
    scores = (hidden[places] @ embedding.T).log_softmax(-1)
    plain = -scores[range(3), targets]
    torch.testing.assert_close(position_losses(hidden, embedding, places, targets, 0.0), plain)
    smoothed = 0.9 * plain - 0.1 * scores.mean(-1)
    torch.testing.assert_close(position_losses(hidden, embedding, places, targets, 0.1), smoothed)


def test_a_place_listed_for_several_targets_learns_their_shares() -> None:
    logits = torch.zeros(1, 4, requires_grad=True)
    shares = torch.tensor([0.5, 0.3, 0.2, 0.0])
    listed = position_losses(logits, torch.eye(4), torch.zeros(4, dtype=torch.long), torch.arange(4), 0.0)
    (gradient,) = torch.autograd.grad((listed * shares).sum(), logits)
    soft = torch.zeros(1, 4, requires_grad=True)
    (expected,) = torch.autograd.grad(F.cross_entropy(soft, shares[None]), soft)
    torch.testing.assert_close(gradient, expected)


def test_a_compiler_that_fails_gives_way_to_plain_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    training = trainer(replace(RECIPE, compile="auto"))

    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(torch, "compile", broken)
    training.choose_compilation()
    assert not training.compiled
    assert torch.isfinite(training.step(block(), rate=1.0, text=1.0, quantised=False))
