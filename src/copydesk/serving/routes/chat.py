"""`POST /v1/chat/completions`.

A conversation with nothing but one user message, held to a built-in task's schema or labels, is that task.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from copydesk.serving.backend import Backend, ChatCall, Choosing, Replies
from copydesk.serving.constraining import Wanted, forced_function, wanted, with_function
from copydesk.serving.conversation import turns
from copydesk.serving.errors import ApiError
from copydesk.serving.exchange import Exchange
from copydesk.serving.measures import tokens
from copydesk.serving.plan import Outgoing
from copydesk.serving.replies import TaskReplies, merged, whole
from copydesk.serving.routes import asking
from copydesk.serving.routes.payloads import DONE, about, chat_logprobs, event, usage
from copydesk.serving.schema_tasks import schema_task
from copydesk.serving.settings import Limits
from copydesk.serving.wire.chat import ChatBody
from copydesk.tasks.builtin import ADDRESS_FIELDS, AGNEWS_LABELS, agnews
from copydesk.types import Delta, Json, Reply, Task, Usage

_NEUTRAL = {"top_p": 1, "top_k": 0, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0}
"""Values of sampling options that change nothing. A task is sampled by temperature and seed alone."""


def plan(body: ChatBody, limits: Limits) -> ChatPlan:
    """Understand a request. Errors: `ApiError` 400, `SchemaError`."""
    messages = turns(body.messages, limits)
    function = forced_function(body)
    asked = with_function(wanted(body, limits), function, limits)
    if body.continue_final_message:
        raise ApiError(
            400, "continue_final_message is not supported; use /v1/completions.", param="continue_final_message"
        )
    if body.top_logprobs and not body.logprobs:
        raise ApiError(400, "top_logprobs says how many come with logprobs; set logprobs too.", param="top_logprobs")
    param = "max_tokens" if body.max_completion_tokens is None else "max_completion_tokens"
    length = asking.length(body.max_tokens if param == "max_tokens" else body.max_completion_tokens, limits, param)
    thinking = body.chat_template_kwargs.enable_thinking if body.chat_template_kwargs else None
    call = ChatCall(
        messages=messages,
        preset=body.preset,
        thinking="auto" if thinking is None else "on" if thinking else "off",
        constraint=asked.constraint if asked else None,
        max_tokens=length or limits.max_answer_tokens,
        stop=asking.stops(body.stop, constrained=asked is not None),
        logprobs=bool(body.logprobs),
        top_logprobs=body.top_logprobs or 0,
        draft=body.draft is not False,
        prediction=asking.predicted(body.prediction, limits),
        truncate=bool(body.truncate),
        choosing=asking.choosing(body),
    )
    task = None if thinking else _task(messages, asked)
    if task is not None:
        _check_task(call)
    return ChatPlan(
        model=body.model,
        tokens=tokens(*(message["content"] for message in messages)) + (length or 0),
        param=asked.param if asked else None,
        call=call,
        task=task,
        task_length=length,
        function=function.name if function else None,
        named=body.tool_choice != "required",
        n=asking.choices(body.n, limits),
        stream=bool(body.stream),
        include_usage=bool(body.stream_options and body.stream_options.include_usage),
    )


@dataclass(frozen=True, slots=True)
class ChatPlan:
    """A chat completion; satisfies `Plan`."""

    model: str | None
    tokens: int
    param: str | None
    call: ChatCall
    task: Task | None
    """The built-in task that it is."""
    task_length: int | None
    function: str | None
    """The function whose arguments the reply is."""
    named: bool
    """Whether the request named the function, rather than required any."""
    n: int
    stream: bool
    include_usage: bool

    async def answer(self, backend: Backend, exchange: Exchange) -> Outgoing:
        """See `Plan`."""
        opened: list[Replies] = []
        try:
            for number in range(self.n):
                opened.append(await self._open(backend, number))
        except BaseException:
            for begun in opened:
                begun.cancel()
            raise
        frame = {"id": f"chatcmpl-{exchange.request}", "created": int(time.time()), "model": backend.name}
        if self.stream:
            return self._events(opened, {**frame, "object": "chat.completion.chunk"}, exchange)
        done = await whole(opened)
        for reply in done:
            exchange.answered(reply)
        return orjson.dumps(
            {
                **frame,
                "object": "chat.completion",
                "choices": [self._choice(number, reply) for number, reply in enumerate(done)],
                "usage": usage(reply.usage for reply in done),
                "copydesk": about(done[0]),
            }
        )

    async def _open(self, backend: Backend, number: int) -> Replies:
        choosing = asking.numbered(self.call.choosing, number)
        if self.task is None:
            return await backend.chat(replace(self.call, choosing=choosing))
        text, options = self.call.messages[0]["content"], self._options(choosing)
        if self.task.labels:
            return TaskReplies(backend.classify(text, self.task, options))
        options |= {"max_tokens": self.task_length, "draft": self.call.draft, "prediction": self.call.prediction}
        return TaskReplies(backend.extract(text, self.task, options))

    def _options(self, choosing: Choosing) -> dict[str, Any]:
        return {
            "temperature": choosing.temperature or 0.0,
            "seed": choosing.seed or 0,
            "truncate": self.call.truncate,
        }

    def _choice(self, number: int, reply: Reply) -> Json:
        message: Json = {"role": "assistant", "content": reply.content}
        if self.function is not None:
            message["content"] = None
            message["tool_calls"] = [
                {
                    "id": _call_id(number),
                    "type": "function",
                    "function": {"name": self.function, "arguments": reply.content},
                }
            ]
        if reply.reasoning is not None:
            message["reasoning_content"] = reply.reasoning
        return {
            "index": number,
            "message": {**message, "refusal": None},
            "logprobs": chat_logprobs(reply.logprobs) if self.call.logprobs else None,
            "finish_reason": self._finish(reply),
        }

    def _finish(self, reply: Reply) -> str:
        # OpenAI's own answers end with `stop` where the request named the function.
        return "tool_calls" if self.function is not None and not self.named and reply.finish == "stop" else reply.finish

    async def _events(self, replies: Sequence[Replies], frame: Json, exchange: Exchange) -> AsyncGenerator[bytes, None]:
        used: list[Usage] = []
        begun: set[int] = set()
        unused: Json = {"usage": None} if self.include_usage else {}

        def chunk(number: int, delta: Json, logprobs: Json | None, finish: str | None, **more: Any) -> bytes:
            choice = {"index": number, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
            return event({**frame, "choices": [choice], **unused, **more})

        stream = merged(replies)
        held = b""  # what goes out with what comes next: each handing over costs as much as several events
        try:
            async for number, item in stream:
                if number not in begun:
                    begun.add(number)
                    held += chunk(number, self._first(number), None, None)
                if isinstance(item, Reply):
                    used.append(item.usage)
                    exchange.answered(item)
                    held += chunk(number, {}, None, self._finish(item), copydesk=about(item))
                else:
                    exchange.wrote()
                    logprobs = chat_logprobs(item.logprobs) if self.call.logprobs else None
                    yield held + chunk(number, self._delta(item), logprobs, None)
                    held = b""
        finally:
            await stream.aclose()
        if self.include_usage:
            held += event({**frame, "choices": [], "usage": usage(used)})
        yield held + DONE

    def _first(self, number: int) -> Json:
        if self.function is None:
            return {"role": "assistant", "content": ""}
        function = {"name": self.function, "arguments": ""}
        call = {"index": 0, "id": _call_id(number), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def _delta(self, delta: Delta) -> Json:
        written: Json = {}
        if delta.reasoning:
            written["reasoning_content"] = delta.reasoning
        if delta.content and self.function is not None:
            written["tool_calls"] = [{"index": 0, "function": {"arguments": delta.content}}]
        elif delta.content:
            written["content"] = delta.content
        return written


def _task(messages: Sequence[Json], asked: Wanted | None) -> Task | None:
    """The built-in task that a request is."""
    if asked is None or [message["role"] for message in messages] != ["user"]:
        return None
    if asked.constraint.schema is not None:
        keys = asked.constraint.schema.json.get("properties")
        if not isinstance(keys, Mapping) or not keys.keys() <= set(ADDRESS_FIELDS):
            return None  # told apart before a task is made of it, which reads all of the schema
        task = schema_task(asked.constraint.schema.json)
        return task if task.builtin else None
    labels = asked.constraint.choice
    return agnews(labels) if len(labels) == len(AGNEWS_LABELS) and set(labels) == set(AGNEWS_LABELS) else None


def _check_task(call: ChatCall) -> None:
    """Errors: `ApiError` 400 for what cannot be had of a built-in task, rather than leave it out unsaid."""
    remedy = "is not available for a built-in task; leave it out, or add a system message to chat about it"
    if call.logprobs:
        raise ApiError(400, f"logprobs {remedy}.", param="logprobs")
    for name, neutral in _NEUTRAL.items():
        if getattr(call.choosing, name) not in (None, neutral):
            raise ApiError(400, f"{name} {remedy}.", param=name)


def _call_id(number: int) -> str:
    return f"call_{number}"
