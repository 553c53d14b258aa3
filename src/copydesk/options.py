"""What the calls of a model take beside their texts. All have defaults.

Knows nothing of what becomes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from copydesk.tasks.presets import PresetName
from copydesk.types import Constraint, Json, PromptName, Schema, Thinking

if TYPE_CHECKING:
    from pydantic import BaseModel


class RequestOptions(TypedDict, total=False):
    """How a text is answered."""

    temperature: float
    """0.0 (the default) takes the most probable answer; above it, answers are sampled with `seed`."""
    seed: int
    """Default 0. The same seed, text and model give the same sample."""
    max_tokens: int | None
    """Longest answer in tokens; by default what the context leaves."""
    truncate: bool
    """Default False. Cut a text that does not fit the context at a sentence end rather than refuse it."""
    draft: bool
    """Default True. Draft an extraction before the model reads it: faster, and the answer is the same."""
    prediction: Any
    """Your own guess at an extraction, as a value or as JSON text: a draft that goes before others. Default none."""
    abstain_below: float | None
    """`classify` only: give no label (None) where the confidence of the best is below this. Default none."""


class Options(RequestOptions, total=False):
    """What `extract` and `classify` take."""

    prompt: PromptName | None
    """`short` or `guide`: the wording of the instruction. By default a task's own, which is `short`."""
    examples: Sequence[tuple[str, Any]]
    """Texts with their right answers, shown to the model before the text. They are checked with every call: make a task
    of them (`copydesk.extraction`, `copydesk.classification`) where there are many calls. Default none."""


class CompletionOptions(TypedDict, total=False):
    """What `complete` takes. Those given as None take the preset's value."""

    preset: PresetName
    """`fast` (the default) or `balanced`: see `copydesk.tasks.presets`."""
    schema: Json | type[BaseModel] | Schema | None
    """What the reply must be: a JSON Schema or a pydantic class. `Reply.value` then is a dict or an instance."""
    constraint: Constraint | None
    """Another constraint: any JSON object, a regular expression, one of several texts."""
    max_tokens: int | None
    """Longest reply in tokens, its reasoning included. A reply that is reasoned first gets four times the preset's."""
    stop: str | Sequence[str]
    """Texts before which the reply ends. Default none."""
    logprobs: bool
    """Default False. Whether `Reply.logprobs` is wanted."""
    top_logprobs: int
    """Default 0. How many of the most probable tokens are wanted in each one's place."""
    truncate: bool
    """Default False. Leave out the oldest turns of what does not fit the context, rather than refuse it."""
    draft: bool
    """Default True. Draft the reply from what was said: faster, and the reply is the same."""
    prediction: Any
    """Your own guess at the reply, as text or as a value: a draft that goes before others. Default none."""
    temperature: float | None
    top_p: float | None
    top_k: int | None
    min_p: float | None
    repetition_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    seed: int | None
    """As `copydesk.types.Sampling` has them."""


class ChatOptions(CompletionOptions, total=False):
    """What `chat` takes."""

    thinking: Thinking
    """`auto` (the default) reasons first where the question asks for it: see `copydesk.tasks.thinking`."""
