"""Rates and weights over a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.training import schedule
from copydesk.training.recipe import Optimiser, Recipe


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_the_rate_rises_stays_and_falls_to_nothing(decay: str) -> None:
    settings = Optimiser(warm_up=0.1, decay_from=0.5, decay=decay)  # type: ignore[arg-type]
    assert [schedule.rate(settings, p) for p in (0.0, 0.05, 0.1, 0.5, 0.75, 1.0, 1.3)] == pytest.approx(
        [0, 0.5, 1, 1, 0.5, 0, 0]
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_after_the_warm_up_the_rate_never_rises(one: float, other: float) -> None:
    settings = Optimiser(warm_up=0.0)
    early, late = sorted((one, other))
    assert 1 >= schedule.rate(settings, early) >= schedule.rate(settings, late) >= 0


def test_text_weight_and_quantisation_follow_the_recipe() -> None:
    recipe = Recipe(text_start=1.0, text_end=0.2, quantise_from=0.8)
    assert [schedule.text_weight(recipe, p) for p in (0, 0.5, 1)] == pytest.approx([1.0, 0.6, 0.2])
    assert [schedule.quantised(recipe, p) for p in (0.79, 0.8, 1)] == [False, True, True]
