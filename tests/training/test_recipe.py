"""Recipes from JSON and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import copydesk.training
from copydesk.errors import UsageError
from copydesk.training.recipe import read_recipe
from copydesk.training.worker import generator

NANO = Path(copydesk.training.__file__).parent / "recipes" / "nano.json"


def test_the_recipe_of_nano_names_generators_that_exist_and_shares_that_are_shares() -> None:
    recipe = read_recipe(NANO)
    for progress in (0.0, 0.5, 1.0):
        assert sum(source.share(progress) for source in recipe.sources) == pytest.approx(1.0)
    for source in recipe.sources:
        assert callable(generator(source))


def test_overrides_reach_every_level_and_data_is_filled_in(tmp_path: Path) -> None:
    overrides = ["optimiser.rate=0.5", "sources.news.weighting.answer=3", "attention=flex", "sources.news.end=0"]
    recipe = read_recipe(NANO, overrides, tmp_path)
    (news,) = [source for source in recipe.sources if source.name == "news"]
    assert (recipe.optimiser.rate, news.weighting.answer, recipe.attention) == (0.5, 3, "flex")
    assert news.share(0.0) > news.share(0.9) > news.share(1.0) == 0
    assert recipe.evaluate["messy"] == str(tmp_path / "messy_dev.jsonl")


def test_a_recipe_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    recipe = read_recipe(NANO)
    (tmp_path / "recipe.json").write_text(recipe.to_json(), encoding="utf-8")
    again = read_recipe(tmp_path / "recipe.json")
    assert json.loads(again.to_json()) == json.loads(recipe.to_json())


@pytest.mark.parametrize("override", ["optimiser.speed=1", "nonsense=1", "sources.nobody.start=1", "rate"])
def test_a_key_that_does_not_exist_is_refused(override: str) -> None:
    with pytest.raises(UsageError):
        read_recipe(NANO, [override])
