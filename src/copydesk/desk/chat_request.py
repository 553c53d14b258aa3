"""What a caller asks of the desk: the next turn of a conversation, or how a text goes on.

Everything is settled here: no presets, and thinking is on or off. Knows nothing of how it is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from copydesk.desk import checks
from copydesk.errors import SchemaError, TextError, UsageError
from copydesk.types import Constraint, Messages, Sampling

ROLES = ("system", "user", "assistant")
MOST_TOP_LOGPROBS = 20
MOST_STOPS = 16
_KINDS: Mapping[str, checks.Kind] = {
    "prompt": checks.TEXT_OR_NONE,
    "thinking": checks.TRUTH,
    "max_tokens": checks.WHOLE,
    "logprobs": checks.TRUTH,
    "top_logprobs": checks.WHOLE,
    "truncate": checks.TRUTH,
    "draft": checks.TRUTH,
    "prediction": checks.TEXT_OR_NONE,
}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One reply. Either `messages` or `prompt` is given.

    Errors: `UsageError` for options of a wrong kind, senseless ones or such that exclude each other, `TextError`
    (`invalid_text`) for messages that are none, `SchemaError` for a senseless constraint.
    """

    messages: Messages = ()
    """The conversation, rendered with the model's chat template; its texts are data."""
    prompt: str | None = None
    """A text to be continued as it is, without a template."""
    thinking: bool = False
    """Whether the model reasons before it answers, if its template has that."""
    sampling: Sampling = field(default_factory=Sampling)
    constraint: Constraint = field(default_factory=Constraint)
    """What the reply must be; where the model reasons, what follows its reasoning."""
    max_tokens: int = 256
    """Longest reply, its reasoning and its end token included."""
    stop: tuple[str, ...] = ()
    """Texts before which the reply ends. Not looked for in reasoning."""
    logprobs: bool = False
    """Whether the log-probabilities of the content's tokens are wanted."""
    top_logprobs: int = 0
    """How many of the most probable tokens in each one's place are wanted with them, at most `MOST_TOP_LOGPROBS`."""
    truncate: bool = False
    """Leave out the oldest turns, or the beginning of the last up to a sentence end, where not all of it fits."""
    draft: bool = True
    """Whether the reply is drafted, if the desk drafts: it comes faster, and is the same."""
    prediction: str | None = None
    """The caller's own guess at the reply: a draft that goes before others."""

    def __post_init__(self) -> None:
        checks.check_kinds(self, _KINDS)
        checks.check_sampling(self.sampling)
        checks.check_max_tokens(self.max_tokens)
        if self.prompt is None:
            _check_messages(self.messages)
        elif self.messages or self.thinking:
            raise UsageError("A text that is continued has no messages and no thinking; use chat for those.")
        if not 0 <= self.top_logprobs <= MOST_TOP_LOGPROBS:
            raise UsageError(f"top_logprobs is from 0 to {MOST_TOP_LOGPROBS}, not {self.top_logprobs}.")
        if self.top_logprobs and not self.logprobs:
            raise UsageError("top_logprobs says how many come with logprobs; set logprobs=True too.")
        _check_stop(self.stop)
        _check_constraint(self.constraint)
        if self.stop and self.constraint != Constraint():
            raise UsageError("A constraint says itself where the reply ends; leave stop out.")


def _check_messages(messages: Messages) -> None:
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence) or not messages:
        raise UsageError(
            "Messages are a list of at least one {'role': ..., 'content': ...}, or a text as the only user message."
        )
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or message.get("role") not in ROLES:
            raise UsageError(f"Message {number} has no role; it is one of {', '.join(ROLES)}.")
        if not isinstance(message.get("content"), str):
            raise TextError(f"The content of message {number} is a str, not {message.get('content')!r}.")
    if messages[-1]["role"] == "assistant":
        raise UsageError("The last message is the assistant's own; end with what it is to reply to.")


def _check_stop(stop: tuple[str, ...]) -> None:
    if not isinstance(stop, tuple) or not all(isinstance(text, str) and text for text in stop):
        raise UsageError(f"stop is a tuple of texts, none empty, not {stop!r}.")
    if len(stop) > MOST_STOPS:
        raise UsageError(f"stop holds at most {MOST_STOPS} texts, got {len(stop)}.")


def _check_constraint(constraint: Constraint) -> None:
    kinds = (constraint.schema, constraint.json_object or None, constraint.regex, constraint.choice or None)
    if sum(kind is not None for kind in kinds) > 1:
        raise UsageError("A reply has one constraint: a schema, json_object, a regex, or a choice.")
    if not all(isinstance(text, str) and text for text in constraint.choice):
        raise SchemaError("The texts of a choice are strings, none empty.", code="invalid_labels")
    if len(set(constraint.choice)) < len(constraint.choice):
        raise SchemaError("A text of the choice stands twice; list each once.", code="invalid_labels")
