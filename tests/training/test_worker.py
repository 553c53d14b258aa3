"""Blocks from a mixture: the same for the same seed, in the shares asked for."""

from __future__ import annotations

import numpy as np
import pytest

from copydesk.errors import UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.training.blocks import BlockSize, views
from copydesk.training.packing import Weighting
from copydesk.training.recipe import Recipe, Source
from copydesk.training.worker import Mixer, generator

SIZE = BlockSize(tokens=4096, row=512, longest=160, scored_share=0.6)


def recipe(*sources: Source) -> Recipe:
    return Recipe(sources=sources, block=SIZE)


PEOPLE = Source("people", "toy:people", {"digits": 2}, start=0.7, end=0.2, weighting=Weighting(text=0.1))
NEWS = Source("news", "toy:headlines", start=0.3, end=0.8)


def test_the_same_seed_makes_the_same_blocks(toy_tokenizer: Tokenizer) -> None:
    one, same, other = (Mixer(recipe(PEOPLE, NEWS), toy_tokenizer, seed) for seed in (1, 1, 2))
    for _ in range(2):
        block = one.block(0.0)
        assert np.array_equal(block, same.block(0.0))
        assert not np.array_equal(block, other.block(0.0))


@pytest.mark.parametrize(("progress", "share"), [(0.0, 0.7), (1.0, 0.2)])
def test_sources_get_their_share_of_the_tokens(toy_tokenizer: Tokenizer, progress: float, share: float) -> None:
    mixer = Mixer(recipe(PEOPLE, NEWS), toy_tokenizer, 3)
    news = toy_tokenizer.encode("Classify")
    counted = {True: 0, False: 0}
    for _ in range(25):
        block = views(mixer.block(progress), SIZE)
        for start, end in zip(block.bounds[:-1], block.bounds[1:], strict=True):
            tokens = block.tokens[start:end].tolist()
            if len(tokens) > 20 and any(tokens):
                head = tokens[:20]
                counted[any(head[i : i + len(news)] == news for i in range(20))] += len(tokens)
    assert counted[False] / (counted[True] + counted[False]) == pytest.approx(share, abs=0.06)


def test_a_source_that_ends_is_opened_again(toy_tokenizer: Tokenizer) -> None:
    mixer = Mixer(recipe(PEOPLE), toy_tokenizer, 4)
    for _ in range(12):  # about 400 examples, of 200 that the source has
        assert (views(mixer.block(0.0), SIZE).answer_weights > 0).sum() > 500


def test_sources_that_yield_nothing_or_do_not_exist_are_named(toy_tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match="empty"):
        Mixer(recipe(Source("empty", "toy:nothing")), toy_tokenizer, 0).block(0.0)
    for missing in ("toy:no_such_function", "no_such_module:f"):
        with pytest.raises(UsageError, match="cannot be imported"):
            generator(Source("x", missing))
