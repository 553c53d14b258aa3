"""An answer by verified drafts: the engine reads a guess at all of it, and what it would not have written is drafted
again from its own words on.

Every token of such an answer is the model's most probable one, and the answer satisfies its schema: it is what the
engine would have written itself, held to that schema. Knows nothing of engines but that they verify.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from copydesk.desk.drafting import Drafting
from copydesk.desk.request import Request
from copydesk.desk.whole.shape import Shape, UnfitError
from copydesk.desk.whole.worth import Worth
from copydesk.engines.completions import Asked, Completions, Verified
from copydesk.errors import CopydeskError, EngineError

MOST_PASSES = 4
"""Drafts of one answer that are verified; where so many do not do, the engine writes the answer."""


@dataclass(frozen=True, slots=True)
class Stood:
    """An answer that stands."""

    text: str
    value: Any
    source: str
    """Who drafted it last."""
    passes: int
    accepted: float
    """The share of its tokens that were drafted."""
    verified: Verified


async def by_drafts(
    engine: Completions, drafting: Drafting, worth: Worth, request: Request, shape: Shape, text: str, asked: Asked
) -> Stood | None:
    """The answer, or None if drafts do not lead to one or do not pay. Errors: `EngineError`."""
    if not worth.pays():
        return None
    started = time.perf_counter()
    so_far = ""
    for passes in range(1, MOST_PASSES + 1):
        draft = drafting.draft(request.task, text, so_far, request.prediction)
        if draft is None:
            break
        try:
            found = await engine.verify(asked, draft.text)
        except CopydeskError as error:
            if isinstance(error, EngineError) and error.code != "refused":
                raise
            break  # it may be the draft alone, with which the prompt does not fit
        if found.ended:
            fitting = _fitting(shape, draft.text, text)
            if not fitting:
                break
            worth.verified(time.perf_counter() - started, True)
            accepted = 1.0 - (passes - 1) / max(1, len(found.logprobs))
            return Stood(draft.text, fitting[0], draft.source, passes, accepted, found)
        reached = found.kept + found.own
        if len(reached) <= len(so_far) or not found.own:
            break
        so_far = reached
    if so_far or draft is not None:
        worth.verified(time.perf_counter() - started, False)
    return None


def _fitting(shape: Shape, answer: str, text: str) -> tuple[Any, ...]:
    """The value of an answer that is one; nothing if it is not."""
    try:
        value = shape.read(answer)
    except UnfitError:
        return ()
    return () if shape.ungrounded(value, text) else (value,)
