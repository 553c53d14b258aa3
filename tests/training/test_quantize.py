"""The training twin of the product's number format."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from copydesk.models import weights
from copydesk.training.quantize import quantize_rows, rounded, rounded_all


def some_matrix(seed: int, spread: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    scale = torch.exp(torch.randn(24, 1, generator=generator) * spread)
    return torch.randn(24, 33, generator=generator) * scale


@given(st.integers(0, 10_000), st.floats(0.0, 8.0))
def test_values_are_within_half_a_step_and_use_the_range(seed: int, spread: float) -> None:
    weight = some_matrix(seed, spread)
    values, exponents = quantize_rows(weight)
    step = torch.ldexp(torch.ones(24), exponents.int())[:, None]
    assert (values.float() * step - weight).abs().le(step / 2).all()
    assert (values.abs().amax(dim=1) >= 63).all()


@given(st.integers(0, 10_000))
def test_rounding_again_changes_nothing_and_bfloat16_holds_it(seed: int) -> None:
    once = rounded(some_matrix(seed, 2.0))
    assert torch.equal(rounded(once), once)
    assert torch.equal(once.bfloat16().float(), once)


def test_a_row_of_zeros_stays_zero() -> None:
    assert torch.equal(rounded(torch.zeros(3, 4)), torch.zeros(3, 4))


def test_powers_of_two_at_the_edge_are_not_clipped() -> None:
    weight = torch.tensor([[127.0, 1.0], [127.5, 1.0], [128.0, 2.0], [0.5, 0.25]])
    values, exponents = quantize_rows(weight)
    assert exponents.tolist() == [0, 1, 1, -7]
    assert values.tolist() == [[127, 1], [64, 0], [64, 1], [64, 32]]
    assert np.array_equal(rounded(weight)[2], [128.0, 2.0])


def test_vectors_are_rounded_to_bfloat16() -> None:
    assert rounded(torch.tensor([1.001])).item() == 1.0


@given(st.integers(0, 10_000), st.floats(0.0, 20.0))
def test_bit_for_bit_what_the_product_writes(seed: int, spread: float) -> None:
    weight = some_matrix(seed, spread)
    weight[0], weight[1] = 0, torch.ldexp(torch.randint(-255, 255, (33,)).float(), torch.tensor(-7))
    values, exponents = quantize_rows(weight)
    theirs, their_exponents = weights.quantize_rows(weight.numpy())
    assert np.array_equal(values.numpy(), theirs)
    assert np.array_equal(exponents.numpy(), their_exponents)


def test_all_together_is_each_by_itself() -> None:
    named = {"b": some_matrix(1, 1.0), "n": torch.randn(5), "a": some_matrix(2, 1.0), "c": torch.randn(4, 6)}
    together = rounded_all(named)
    assert list(together) == list(named)
    for name, weight in named.items():
        assert torch.equal(together[name], rounded(weight))
