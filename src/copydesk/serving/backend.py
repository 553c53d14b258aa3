"""What the routes need of a model, as a protocol.

Knows no HTTP. A router may put anything behind the same protocol: several versions, remote replicas, a fallback.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from copydesk.types import Answer, Constraint, Delta, Reply, Task, Thinking


@dataclass(frozen=True, slots=True)
class Choosing:
    """How a reply's tokens are chosen; None takes the preset's value."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One reply to a conversation."""

    messages: Sequence[Mapping[str, str]]
    preset: Literal["fast", "balanced"] | None = None
    thinking: Thinking = "auto"
    constraint: Constraint | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    top_logprobs: int = 0
    draft: bool = True
    prediction: str | None = None
    truncate: bool = False
    choosing: Choosing = field(default_factory=Choosing)


@dataclass(frozen=True, slots=True)
class CompletionCall:
    """One continuation of a text, without the chat template."""

    prompt: str
    constraint: Constraint | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    top_logprobs: int = 0
    draft: bool = True
    prediction: str | None = None
    choosing: Choosing = field(default_factory=Choosing)


class Replies(Protocol):
    """A reply while it is written. Whoever opens one reads it to its end or cancels it."""

    def __aiter__(self) -> AsyncIterator[Delta]: ...

    @property
    def reply(self) -> Reply:
        """The whole reply, once the deltas have ended."""

    def cancel(self) -> None:
        """Give it up; its work is free within a pass. After the end it does nothing."""


class Backend(Protocol):
    """Answers for one model name. Cancelling a call frees its work within a pass. Errors are copydesk's own."""

    @property
    def name(self) -> str:
        """The name callers gave."""

    async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        """As `Model.extract`, with its options."""

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        """As `Model.classify`, with its options."""

    async def chat(self, call: ChatCall) -> Replies:
        """A reply, begun. What is wrong with the call raises here or with the first delta."""

    async def complete(self, call: CompletionCall) -> Replies:
        """A continuation, begun. Errors as `chat`."""


class Router(Protocol):
    """Which back end answers for a name. What it chose counts its own calls: load, errors, latency."""

    @property
    def names(self) -> Sequence[str]:
        """The names that callers may give, the one for requests without a name first."""

    def choose(self, model: str | None, caller: str) -> Backend:
        """The back end for a name and a caller. Errors: `ApiError` 404 (`model_not_found`) or 503."""
