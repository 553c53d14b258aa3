"""One extraction by an engine that writes whole answers: asked, checked, asked once more if need be.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from copydesk.desk.request import Request
from copydesk.desk.whole.fitting import fitted
from copydesk.desk.whole.scored import scored_fields
from copydesk.desk.whole.shape import Shape, UnfitError
from copydesk.engines.completions import Asked, Completion, Completions
from copydesk.errors import AnswerError, LengthError
from copydesk.types import Answer, Constraint, Json, Messages, Sampling, Schema, Task

Conversation = Callable[[Task, str], Messages]
"""What is said to a model that is to answer a task of a text."""

ATTEMPTS = 2
_ROOM = 1024
_ROOM_PER_CHARACTER = 8
"""Longest answer in tokens where the caller sets none: this many, and so many for each character of the text."""


async def write_record(
    engine: Completions, request: Request, shape: Shape, conversation: Conversation, started: float
) -> Answer[Json]:
    """The answer. Errors: as `Completions`, `LengthError`, and `AnswerError`: `invalid_answer`, `not_grounded`."""

    async def ask(text: str) -> Answer[Json]:
        return await _Record(engine, request, shape, text, started).write(conversation(request.task, text))

    return await fitted(request.text, request.truncate, ask)


class _Record:
    def __init__(self, engine: Completions, request: Request, shape: Shape, text: str, started: float) -> None:
        self._engine = engine
        self._request = request
        self._shape = shape
        self._text = text
        self._started = started

    async def write(self, prompt: Messages) -> Answer[Json]:
        shown = prompt
        error = AnswerError("Nothing was asked.")
        for attempt in range(ATTEMPTS):
            found = await self._engine.complete(
                Asked(
                    messages=shown,
                    constraint=Constraint(schema=Schema(self._shape.sent)),
                    sampling=Sampling(temperature=self._request.temperature, seed=self._request.seed + attempt),
                    max_tokens=self._room(),
                    top=0,
                )
            )
            check_complete(found)
            try:
                value = self._shape.read(found.text)
            except UnfitError as why:
                error = unfit(self._engine, why)
                continue
            wrong = self._shape.ungrounded(value, self._text)
            if wrong is None:
                return self._answer(found, value)
            field, wrote = wrong
            error = AnswerError(
                f"{self._engine.name} answered as {field} what does not stand in the text: {wrote!r}; asked again, it "
                "did so again. Drop grounded from the schema where values may be written otherwise.",
                code="not_grounded",
            )
            shown = [*prompt, *_correction(found.text, wrote)]
        raise error

    def _answer(self, found: Completion, value: Json) -> Answer[Json]:
        fields, confidence = scored_fields(found.text, found.logprobs, self._text)
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
            usage=found.usage,
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
