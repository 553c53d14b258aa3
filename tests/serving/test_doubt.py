"""Answers that are held until the model is known to be sound."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from copydesk.errors import EngineError
from copydesk.serving.canary import Proof
from copydesk.serving.doubt import Doubt, doubtful
from copydesk.types import Answer, Task
from serving.fake_model import SURE, FakeModel
from serving.fakes import answer_of

pytestmark = pytest.mark.anyio
FIRST = Proof("Business", SURE, 0.1, 0.0)


class Counting(FakeModel):
    """Counts canaries, which take a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        self.asked += 1
        await asyncio.sleep(0.02)
        return await super().classify(text, task, options)


def test_only_what_a_model_hardly_believes_itself_is_doubtful() -> None:
    answer = answer_of({"city": "a"})
    assert doubtful(replace(answer, confidence=0.001))
    assert not doubtful(replace(answer, confidence=0.5))
    assert not doubtful(replace(answer, confidence=None))
    assert not doubtful(replace(answer, confidence=0.001, verified=False))
    assert not doubtful("a reply")


async def test_a_sound_model_dispels_it_and_a_broken_one_does_not() -> None:
    model = FakeModel()
    doubt = Doubt(model, FIRST)
    await doubt.dispelled()
    model.mood = "wrong"
    with pytest.raises(EngineError, match="otherwise than at first"):
        await doubt.dispelled()
    model.mood = "dead"
    with pytest.raises(EngineError, match="dead"):
        await doubt.dispelled()
    model.mood = "well"
    await doubt.dispelled()


async def test_canaries_are_shared_but_only_those_asked_afterwards_count() -> None:
    model = Counting()
    doubt = Doubt(model, FIRST)
    one = asyncio.create_task(doubt.dispelled())
    await asyncio.sleep(0.01)
    together = model.asked
    assert together > 1
    model.mood = "wrong"  # the canaries under way were asked before, and could be answered before, too
    others = [asyncio.create_task(doubt.dispelled()) for _ in range(9)]
    found = await asyncio.gather(one, *others, return_exceptions=True)
    assert all(isinstance(each, EngineError) for each in found[1:])
    assert model.asked == 2 * together


async def test_one_that_is_cancelled_leaves_the_others_their_answer() -> None:
    model = Counting()
    doubt = Doubt(model, FIRST)
    one, other = (asyncio.create_task(doubt.dispelled()) for _ in range(2))
    await asyncio.sleep(0.01)
    one.cancel()
    await other
    assert one.cancelled()
