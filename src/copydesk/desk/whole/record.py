"""One extraction by an engine that writes whole answers: asked, checked, asked once more if need be.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from copydesk.desk.drafting import Drafting
from copydesk.desk.request import Request
from copydesk.desk.whole.drafted import Stood, by_drafts
from copydesk.desk.whole.fitting import fitted
from copydesk.desk.whole.scored import scored_fields
from copydesk.desk.whole.shape import Shape, UnfitError
from copydesk.desk.whole.worth import Worth
from copydesk.engines.completions import Asked, Completion, Completions
from copydesk.errors import AnswerError, LengthError
from copydesk.types import Answer, Constraint, Json, Messages, Sampling, Schema, Task, TokenLogprob, Usage

Conversation = Callable[[Task, str], Messages]
"""What is said to a model that is to answer a task of a text."""

ATTEMPTS = 2
_ROOM = 1024
_ROOM_PER_CHARACTER = 8
"""Longest answer in tokens where the caller sets none: this many, and so many for each character of the text."""


@dataclass(frozen=True, slots=True)
class Means:
    """What all extractions of one schema share."""

    engine: Completions
    shape: Shape
    conversation: Conversation
    drafting: Drafting | None
    """None where the engine verifies no drafts, or none are wanted."""
    worth: Worth


async def write_record(means: Means, request: Request, started: float) -> Answer[Json]:
    """The answer. Errors: as `Completions`, `LengthError`, and `AnswerError`: `invalid_answer`, `not_grounded`."""

    async def ask(text: str) -> Answer[Json]:
        return await _Record(means, request, text, started).write()

    return await fitted(request.text, request.truncate, ask)


class _Record:
    def __init__(self, means: Means, request: Request, text: str, started: float) -> None:
        self._means = means
        self._engine = means.engine
        self._request = request
        self._text = text
        self._started = started
        self._asked = Asked(
            messages=means.conversation(request.task, text),
            constraint=Constraint(schema=Schema(means.shape.sent)),
            sampling=Sampling(temperature=request.temperature, seed=request.seed),
            max_tokens=self._room(),
            top=0,
        )

    async def write(self) -> Answer[Json]:
        drafting = self._means.drafting
        if drafting is None or self._request.temperature > 0.0:
            return await self._written()
        stood = None
        if self._request.draft:
            means = self._means
            stood = await by_drafts(
                self._engine, drafting, means.worth, self._request, means.shape, self._text, self._asked
            )
        answer = await self._written() if stood is None else self._stood(stood)
        drafting.answered(answer.ms / 1e3)
        drafting.verified(self._request.task, self._text, json.dumps(answer.value, ensure_ascii=False))
        return answer

    async def _written(self) -> Answer[Json]:
        """The answer as the engine writes it, at one of the attempts."""
        asked, error = self._asked, AnswerError("Nothing was asked.")
        for attempt in range(ATTEMPTS):
            asked = replace(asked, sampling=replace(asked.sampling, seed=self._request.seed + attempt))
            began = time.perf_counter()
            found = await self._engine.complete(asked)
            self._means.worth.written(time.perf_counter() - began)
            check_complete(found)
            try:
                value = self._means.shape.read(found.text)
            except UnfitError as why:
                error = unfit(self._engine, why)
                continue
            wrong = self._means.shape.ungrounded(value, self._text)
            if wrong is None:
                return self._answer(value, found.text, found.logprobs, found.usage)
            field, wrote = wrong
            error = AnswerError(
                f"{self._engine.name} answered as {field} what does not stand in the text: {wrote!r}; asked again, it "
                "did so again. Drop grounded from the schema where values may be written otherwise.",
                code="not_grounded",
            )
            asked = replace(asked, messages=[*self._asked.messages, *_correction(found.text, wrote)])
        raise error

    def _stood(self, stood: Stood) -> Answer[Json]:
        answer = self._answer(stood.value, stood.text, stood.verified.logprobs, stood.verified.usage)
        return replace(answer, draft=stood.source, accepted=stood.accepted, passes=stood.passes)

    def _answer(self, value: Json, text: str, tokens: Sequence[TokenLogprob], usage: Usage) -> Answer[Json]:
        fields, confidence = scored_fields(text, tokens, self._text)
        return Answer(
            value=value,
            fields=fields,
            confidence=confidence,
            verified=True,
            draft=None,
            accepted=None,
            passes=0,
            model=self._engine.model,
            engine=self._engine.name,
            usage=usage,
            ms=(time.perf_counter() - self._started) * 1e3,
            truncated=len(self._text) < len(self._request.text),
        )

    def _room(self) -> int:
        room = self._request.max_tokens or _ROOM + _ROOM_PER_CHARACTER * len(self._text)
        return min(room, self._engine.context_length or room)


def _correction(answer: str, wrong: str) -> Messages:
    """What is said after an answer with a value that does not stand in the text."""
    ask = f"“{wrong}” does not stand in the text. Answer again; copy it exactly as the text has it, or leave it empty."
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": ask}]


def check_complete(found: Completion) -> None:
    """Errors: `LengthError` for an answer that was cut off."""
    if found.finish == "length":
        raise LengthError(
            f"The answer was not complete after {found.usage.completion_tokens} tokens; allow more (max_tokens), or "
            "require less."
        )


def unfit(engine: Completions, why: UnfitError) -> AnswerError:
    """The error for an answer that does not satisfy its schema."""
    return AnswerError(f"{engine.name} did not keep to the schema, nor when asked again: {why}")
