"""A loaded model as a back end.

Knows no HTTP and no router. What takes long before the model reads anything (compiling a schema, a long text) is done
in another thread, so that the event loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from copydesk.model import Model
from copydesk.serving.backend import ChatCall, CompletionCall, Replies
from copydesk.types import Answer, Constraint, Task

_LONG = 20_000
"""Characters."""


class ModelBackend:
    """Satisfies `Backend`. The model stays the caller's to close."""

    def __init__(self, name: str, model: Model) -> None:
        """`name` is the one that callers give."""
        self._name = name
        self._model = model

    @property
    def name(self) -> str:
        """The name that callers give."""
        return self._name

    async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        """See `Backend`."""
        return await self._model.aextract(text, task, **options)

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        """See `Backend`."""
        return await self._model.aclassify(text, task, **options)

    async def chat(self, call: ChatCall) -> Replies:
        """See `Backend`."""
        options = _options(call) | {"thinking": call.thinking, "truncate": call.truncate}
        if call.preset is not None:
            options["preset"] = call.preset
        length = sum(len(message["content"]) for message in call.messages)
        return await _begun(partial(self._model.chat_stream, call.messages, **options), call.constraint, length)

    async def complete(self, call: CompletionCall) -> Replies:
        """See `Backend`."""
        begin = partial(self._model.complete_stream, call.prompt, **_options(call))
        return await _begun(begin, call.constraint, len(call.prompt))


def _options(call: ChatCall | CompletionCall) -> dict[str, Any]:
    return {
        "constraint": call.constraint,
        "max_tokens": call.max_tokens,
        "stop": call.stop,
        "logprobs": call.logprobs,
        "top_logprobs": call.top_logprobs,
        "draft": call.draft,
        "prediction": call.prediction,
        **asdict(call.choosing),
    }


async def _begun(begin: Callable[[], Replies], constraint: Constraint | None, length: int) -> Replies:
    return await asyncio.to_thread(begin) if constraint is not None or length >= _LONG else begin()
