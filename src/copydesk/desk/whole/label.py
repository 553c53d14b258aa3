"""One classification by an engine that writes whole answers.

By the first token's probabilities, where the engine tells them and they tell the labels apart; else it is held to
write a label. Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from copydesk.desk.label_scores import choose, mass, shares
from copydesk.desk.request import Request
from copydesk.desk.whole.fitting import fitted
from copydesk.desk.whole.record import Conversation
from copydesk.desk.whole.scored import label_logprobs, text_probability
from copydesk.engines.completions import Asked, Completion, Completions
from copydesk.errors import AnswerError, EngineError
from copydesk.types import Answer, Constraint, Messages, Sampling


async def write_label(
    engine: Completions, request: Request, conversation: Conversation, started: float
) -> Answer[str | None]:
    """The answer. Errors: as `Completions`, `AnswerError`."""

    async def ask(text: str) -> Answer[str | None]:
        found, label, logprobs = await _read(engine, request, conversation(request.task, text))
        if logprobs:
            probability: float | None = math.exp(min(0.0, logprobs[request.task.labels.index(label)]))
        else:
            probability = text_probability(label, found.logprobs)
        abstained = _abstains(engine, request, probability)
        return Answer(
            value=None if abstained else label,
            fields={},
            confidence=probability,
            verified=True,
            draft=None,
            accepted=None,
            passes=0,
            model=engine.model,
            engine=engine.name,
            usage=found.usage,
            ms=(time.perf_counter() - started) * 1e3,
            truncated=len(text) < len(request.text),
            labels=dict(zip(request.task.labels, shares(logprobs), strict=True)) if logprobs else {},
            label_mass=mass(logprobs) if logprobs else None,
            abstained=abstained,
        )

    return await fitted(request.text, request.truncate, ask)


async def _read(
    engine: Completions, request: Request, messages: Messages
) -> tuple[Completion, str, list[float] | None]:
    """What was written, the label, and if they are told, all labels' log-probabilities."""
    labels = request.task.labels
    asked = Asked(messages=messages, max_tokens=1, top=engine.most_top)
    if engine.most_top:
        found = await engine.complete(asked)
        logprobs = label_logprobs(labels, found.logprobs)
        if logprobs is not None:
            return found, labels[choose(logprobs, request.temperature, request.seed)], logprobs
    found = await engine.complete(
        replace(
            asked,
            constraint=Constraint(choice=labels),
            sampling=Sampling(temperature=request.temperature, seed=request.seed),
            max_tokens=None,
            top=0,
        )
    )
    label = next((label for label in labels if label.strip() == found.text.strip()), None)
    if label is None:
        raise AnswerError(f"{engine.name} was to write one of the labels and wrote {found.text[:100]!r}.")
    return found, label, None


def _abstains(engine: Completions, request: Request, probability: float | None) -> bool:
    if request.abstain_below is None:
        return False
    if probability is None:
        raise EngineError(
            f"{engine.name} tells no probabilities, so that nothing says when to abstain; leave abstain_below out.",
            code="no_probabilities",
        )
    return probability < request.abstain_below
