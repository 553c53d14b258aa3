"""The body of a chat completion, as OpenAI and vLLM have it.

Knows the form only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from copydesk.serving.wire.base import Sampled, Wire
from copydesk.serving.wire.constraint import Constrained, NamedTool, Tool

Stop = str | list[str]


class Part(Wire):
    """A part of a message's content; only texts are known."""

    type: str
    text: str | None = None
    refusal: str | None = None


class CalledFunction(Wire):
    name: str
    arguments: str


class ToolCall(Wire):
    """A call that the assistant made earlier."""

    id: str | None = None
    type: str | None = None
    function: CalledFunction | None = None


class Message(Wire):
    """A turn."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None


class Prediction(Wire):
    """The caller's own guess at the answer: a draft."""

    type: Literal["content"]
    content: str | list[Part]


class StreamOptions(Wire):
    include_usage: bool | None = None


class TemplateOptions(Wire):
    """vLLM's arguments of the chat template, of which one is known."""

    enable_thinking: bool | None = None


class ChatBody(Sampled, Constrained):
    """A chat completion."""

    model: str | None = None
    messages: Annotated[list[Message], Field(min_length=1)]
    preset: Literal["fast", "balanced"] | None = None
    """copydesk's own: which sampling values what is left out takes."""
    chat_template_kwargs: TemplateOptions | None = None
    prediction: Prediction | None = None
    draft: bool | None = None
    """copydesk's own: false answers without drafts; the answer is the same."""
    truncate: bool | None = None
    """copydesk's own: true leaves out what does not fit the context rather than refuse it."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: Stop | None = None
    n: Annotated[int, Field(ge=1)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    function_call: Any = None
    """Refused where it forces a call: `tools` and `tool_choice` took its place."""
    continue_final_message: bool | None = None
    """Refused."""
