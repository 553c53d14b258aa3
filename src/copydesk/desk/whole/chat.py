"""One reply by an engine that writes whole answers: streamed as it comes, or checked first where it is held to a form.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import json
import time
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplySender
from copydesk.desk.schema.expressions import fits
from copydesk.desk.whole.fitting import fitted_turns
from copydesk.desk.whole.record import ATTEMPTS, check_complete, unfit
from copydesk.desk.whole.shape import Shape, UnfitError, strict
from copydesk.desk.whole.thought import Thought, split
from copydesk.engines.completions import FREE, Asked, Completion, Completions
from copydesk.errors import AnswerError, EngineError, SchemaError
from copydesk.types import Constraint, Delta, Messages, Reply, Schema


async def write_reply(engine: Completions, request: ChatRequest, sender: ReplySender) -> None:
    """Write the reply into `sender`. Errors: as `Completions`, `AnswerError` for one that is not what it must be.

    A reply that is held to a form comes at once, when it has been checked: never half an object.
    """
    started = time.perf_counter()
    writing = _Writing(engine, request, sender)
    write = writing.free if request.constraint == FREE else writing.held
    if request.prompt is None:
        (found, value), truncated = await fitted_turns(request.messages, request.truncate, write)
    else:
        (found, value), truncated = await write(()), False
    sender.finish(
        Reply(
            content=found.text,
            reasoning=(found.reasoning or "") if request.thinking else None,
            finish=found.finish,
            value=value,
            verified=True,
            draft=None,
            accepted=None,
            passes=0,
            model=engine.model,
            engine=engine.name,
            usage=found.usage,
            ms=(time.perf_counter() - started) * 1e3,
            truncated=truncated,
            logprobs=found.logprobs if request.logprobs else (),
        )
    )


class _Writing:
    """The ways of writing one reply. Each gives the reply and its value."""

    def __init__(self, engine: Completions, request: ChatRequest, sender: ReplySender) -> None:
        self._engine = engine
        self._request = request
        self._sender = sender

    async def free(self, messages: Messages) -> tuple[Completion, Any]:
        """Streamed."""
        thought, content, reasoning = Thought(), "", ""
        found: Completion | None = None
        async with aclosing(self._engine.stream(self._asked(messages, FREE))) as stream:
            async for part in stream:
                if isinstance(part, Completion):
                    found = part
                    continue
                new, inner = thought.feed(part.content)
                content, reasoning = content + new, reasoning + part.reasoning + inner
                self._put(new, part.reasoning + inner, part.logprobs)
        if found is None:
            raise EngineError(f"{self._engine.name} ended in the middle of a reply; ask again.", code="engine_failed")
        new, inner = thought.end()
        self._put(new, inner, ())
        return replace(found, text=content + new, reasoning=(reasoning + inner).strip()), None

    async def held(self, messages: Messages) -> tuple[Completion, Any]:
        """Checked, then at once."""
        constraint = self._request.constraint
        shape = None if constraint.schema is None else Shape(constraint.schema.json, {})
        sent = constraint if shape is None else Constraint(schema=Schema(shape.sent))
        error = AnswerError("Nothing was asked.")
        for attempt in range(ATTEMPTS):
            found = await self._engine.complete(self._asked(messages, sent, attempt))
            check_complete(found)
            text, inner = split(found.text)
            try:
                content, value = _checked(text, constraint, shape)
            except UnfitError as why:
                error = unfit(self._engine, why)
                continue
            kept = replace(found, text=content, reasoning=(found.reasoning or "") + inner)
            self._put(content, kept.reasoning or "", found.logprobs)
            return kept, value
        raise error

    def _asked(self, messages: Messages, constraint: Constraint, attempt: int = 0) -> Asked:
        request = self._request
        return Asked(
            messages=messages,
            prompt=request.prompt,
            constraint=constraint,
            sampling=replace(request.sampling, seed=request.sampling.seed + attempt),
            max_tokens=min(request.max_tokens, self._engine.context_length or request.max_tokens),
            stop=request.stop,
            top=request.top_logprobs if request.logprobs else None,
            thinking=request.thinking,
        )

    def _put(self, content: str, reasoning: str, logprobs: Any) -> None:
        delta = Delta(
            content, reasoning if self._request.thinking else "", tuple(logprobs) if self._request.logprobs else ()
        )
        if delta != Delta():
            self._sender.put(delta)


def _checked(text: str, constraint: Constraint, shape: Shape | None) -> tuple[str, Any]:
    """The content, laid out as our own is, and its value. Errors: `UnfitError`, `SchemaError`."""
    if shape is not None:
        value = shape.read(text)
        return json.dumps(value, ensure_ascii=False), value
    if constraint.json_object:
        value = strict(text)
        if not isinstance(value, dict):
            raise UnfitError("it is no object")
        return json.dumps(value, ensure_ascii=False), value
    if constraint.regex is not None:
        try:
            right = fits(constraint.regex, text)
        except ValueError as error:
            raise SchemaError(f"The regular expression {constraint.regex!r} cannot be checked: {error}.") from error
        if not right:
            raise UnfitError(f"{text[:100]!r} does not match the regular expression")
    elif text not in constraint.choice:
        raise UnfitError(f"{text[:100]!r} is none of the texts to choose from")
    return text, None
