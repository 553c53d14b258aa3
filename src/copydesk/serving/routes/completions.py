"""`POST /v1/completions`: texts that are continued, without the chat template."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

import orjson

from copydesk.serving.backend import Backend, CompletionCall, Replies
from copydesk.serving.constraining import wanted
from copydesk.serving.errors import ApiError
from copydesk.serving.exchange import Exchange
from copydesk.serving.measures import check_text, tokens
from copydesk.serving.plan import Outgoing
from copydesk.serving.replies import merged, whole
from copydesk.serving.routes import asking
from copydesk.serving.routes.payloads import DONE, about, completion_logprobs, event, usage
from copydesk.serving.settings import Limits
from copydesk.serving.wire.completion import CompletionBody
from copydesk.types import Json, Reply, TokenLogprob, Usage

_USUAL_LENGTH = 16
"""OpenAI's, where a request does not say."""


def plan(body: CompletionBody, limits: Limits) -> CompletionPlan:
    """Understand a request. Errors: `ApiError` 400."""
    for param in ("echo", "suffix"):
        if getattr(body, param):
            raise ApiError(400, f"{param} is not supported.", param=param)
    if body.best_of not in (None, 1, body.n):
        raise ApiError(400, "best_of is not supported; ask for n and choose.", param="best_of")
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    n = asking.choices(body.n, limits)
    if len(prompts) * n > limits.max_texts:
        raise ApiError(400, f"At most {limits.max_texts} completions are given to one request.", param="prompt")
    for number, prompt in enumerate(prompts):
        check_text(prompt, limits, "prompt" if isinstance(body.prompt, str) else f"prompt[{number}]")
    length = asking.length(body.max_tokens, limits, "max_tokens") or _USUAL_LENGTH
    asked = wanted(body, limits)
    choosing = asking.choosing(body)
    shared = CompletionCall(
        prompt="",
        constraint=asked.constraint if asked else None,
        max_tokens=length,
        stop=asking.stops(body.stop, constrained=asked is not None),
        logprobs=body.logprobs is not None,
        top_logprobs=body.logprobs or 0,
        draft=body.draft is not False,
        prediction=asking.predicted(body.prediction, limits),
    )
    return CompletionPlan(
        model=body.model,
        tokens=n * (tokens(*prompts) + length * len(prompts)),
        param=asked.param if asked else None,
        calls=[
            replace(shared, prompt=prompt, choosing=asking.numbered(choosing, number))
            for prompt in prompts
            for number in range(n)
        ],
        stream=bool(body.stream),
        include_usage=bool(body.stream_options and body.stream_options.include_usage),
    )


@dataclass(frozen=True, slots=True)
class CompletionPlan:
    """Completions; satisfies `Plan`."""

    model: str | None
    tokens: int
    param: str | None
    calls: Sequence[CompletionCall]
    stream: bool
    include_usage: bool

    async def answer(self, backend: Backend, exchange: Exchange) -> Outgoing:
        """See `Plan`."""
        opened: list[Replies] = []
        try:
            for call in self.calls:
                opened.append(await backend.complete(call))
        except BaseException:
            for begun in opened:
                begun.cancel()
            raise
        frame: Json = {
            "id": f"cmpl-{exchange.request}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": backend.name,
        }
        if self.stream:
            return self._events(opened, frame, exchange)
        done = await whole(opened)
        for reply in done:
            exchange.answered(reply)
        return orjson.dumps(
            {
                **frame,
                "choices": [
                    self._choice(number, reply.content, reply.logprobs, 0, reply.finish)
                    for number, reply in enumerate(done)
                ],
                "usage": usage(reply.usage for reply in done),
                "copydesk": about(done[0]),
            }
        )

    def _choice(
        self, number: int, text: str, logprobs: Sequence[TokenLogprob], offset: int, finish: str | None
    ) -> Json:
        written = completion_logprobs(logprobs, offset) if self.calls[number].logprobs else None
        return {"index": number, "text": text, "logprobs": written, "finish_reason": finish}

    async def _events(self, replies: Sequence[Replies], frame: Json, exchange: Exchange) -> AsyncGenerator[bytes, None]:
        used: list[Usage] = []
        offsets = [0] * len(replies)
        unused: Json = {"usage": None} if self.include_usage else {}
        stream = merged(replies)
        held = b""  # goes out with what comes next
        try:
            async for number, item in stream:
                if isinstance(item, Reply):
                    used.append(item.usage)
                    exchange.answered(item)
                    choice = self._choice(number, "", (), offsets[number], item.finish)
                    held += event({**frame, "choices": [choice], **unused, "copydesk": about(item)})
                else:
                    exchange.wrote()
                    choice = self._choice(number, item.content, item.logprobs, offsets[number], None)
                    offsets[number] += len(item.content)
                    yield held + event({**frame, "choices": [choice], **unused})
                    held = b""
        finally:
            await stream.aclose()
        if self.include_usage:
            held += event({**frame, "choices": [], "usage": usage(used)})
        yield held + DONE
