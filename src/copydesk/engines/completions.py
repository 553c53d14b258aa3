"""What is asked of an engine that writes whole answers itself: messages and a constraint in, text out.

For what cannot be asked for single passes: a server somewhere, vLLM. Nothing here knows HTTP, tokens, tasks or spans.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from copydesk.types import Answer, Constraint, Delta, Finish, Messages, Sampling, Task, TokenLogprob, Usage

FREE = Constraint()


@dataclass(frozen=True, slots=True)
class Asked:
    """One completion: the next turn of a conversation, or what follows a text."""

    messages: Messages = ()
    prompt: str | None = None
    """A text to go on with, instead of a conversation."""
    constraint: Constraint = FREE
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    """Longest answer in tokens; None leaves it to the engine."""
    stop: tuple[str, ...] = ()
    top: int | None = None
    """How many of the most probable tokens are wanted in each place, beside the written one's probability; None wants
    no probabilities. An engine that offers fewer gives fewer, or none."""
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What was written."""

    text: str
    finish: Finish
    usage: Usage
    reasoning: str | None = None
    """What was thought before, where the engine keeps it apart."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Of the text's tokens; empty where the engine offers none."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a draft: how far the model would have written it itself, its most probable token at each place."""

    kept: str
    """The beginning that it would have written."""
    usage: Usage
    own: str = ""
    """What it would have written there instead; empty where it would end, or where that is not known."""
    ended: bool = False
    """Whether all of the draft stands and the model would end after it."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Of the tokens that stand."""


@runtime_checkable
class Answering(Protocol):
    """An engine that answers tasks itself, drafts and all: another copydesk."""

    async def answer(self, task: Task, text: str, options: Mapping[str, Any]) -> Answer[Any]:
        """The answer to a task that a schema or labels and a named prompt say all of; `options` are those of a request
        for it. Errors: as `Completions`, `LengthError`, `AnswerError`."""


class Completions(Protocol):
    """Writes whole completions, many at once. Everything runs in one event loop; cancelling a call frees its work.

    Errors: `EngineError` for what is the engine's fault, `TextError` `too_long` for a prompt that does not fit,
    `SchemaError` for a constraint that the engine refuses.
    """

    name: str
    """As answers report it: `vllm`, or a server's address."""
    model: str
    """Name of the model, as answers report it."""
    context_length: int | None
    """The most tokens of prompt and answer together, where that is known."""
    most_top: int
    """How many of the most probable tokens it tells; 0 if it tells no probabilities."""
    notes: tuple[str, ...]
    """What is worth knowing of it, each a line."""
    verifies: bool
    """Whether a draft can be verified."""

    async def complete(self, asked: Asked) -> Completion:
        """The whole text. Errors: as above."""

    def stream(self, asked: Asked) -> AsyncGenerator[Delta | Completion, None]:
        """The text as it is written, and at the very end the whole. Errors: as above, also in the middle."""

    async def verify(self, asked: Asked, draft: str) -> Verified:
        """Read a draft of the answer in one pass, its constraint left aside. Errors: as above."""

    async def close(self) -> None:
        """Free everything."""
