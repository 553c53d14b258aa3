"""One answer by another copydesk: asked as a task, and checked here all the same.

Knows nothing of HTTP.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from copydesk.desk.request import Request
from copydesk.desk.whole.shape import Shape, UnfitError
from copydesk.engines.completions import Answering
from copydesk.errors import AnswerError
from copydesk.types import Answer, Json


async def answer_elsewhere(engine: Answering, request: Request, shape: Shape | None, started: float) -> Answer[Any]:
    """The answer. Errors: as `Answering`; `AnswerError` for one that is none."""
    options: Json = {"temperature": request.temperature, "seed": request.seed, "truncate": request.truncate}
    if shape is None:
        options["abstain_below"] = request.abstain_below
    else:
        options |= {"max_tokens": request.max_tokens, "draft": request.draft, "prediction": request.prediction}
    answer = await engine.answer(request.task, request.text, options)
    why = _why_not(answer, request, shape)
    if why is not None:
        raise AnswerError(f"{answer.engine} gave an answer that is none: {why}")
    return replace(answer, ms=(time.perf_counter() - started) * 1e3)


def _why_not(answer: Answer[Any], request: Request, shape: Shape | None) -> str | None:
    if shape is None:
        known = answer.value in request.task.labels or (answer.value is None and answer.abstained)
        return None if known else f"{answer.value!r} is none of the labels"
    try:
        shape.read(json.dumps(answer.value))
    except UnfitError as error:
        return str(error)
    wrong = shape.ungrounded(answer.value, request.text)
    return None if wrong is None else f"{wrong[1]!r} does not stand in the text"
