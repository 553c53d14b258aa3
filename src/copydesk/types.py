"""What all rooms share: schemas, tasks, drafts, answers. Nothing here does anything.

Knows no engine, no file, no HTTP. Every class is a frozen dataclass; lengths and positions in text are code points,
positions in token sequences are tokens, times are milliseconds, probabilities lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

Json = dict[str, Any]
Value = TypeVar("Value")
Match = Literal["exact", "normalized", "inferred"]
PromptName = Literal["short", "guide"]
Grounding = Literal["run", "runs"]
"""Whether a grounded value is one run of the text, or several in order."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema (draft 2020-12 subset that the grammar honours) and, if it came from one, its pydantic model."""

    json: Json
    model: type | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its right answer as the model is to write it: JSON on one line, or a label."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: an extraction (it has a `schema`) or a classification (it has `labels`)."""

    name: str
    instruction: str
    schema: Schema | None = None
    labels: tuple[str, ...] = ()
    grounded: Mapping[str, Grounding] = field(default_factory=dict)
    """Top-level fields whose value must be copied from the text, beside those that the schema declares so."""
    builtin: bool = False
    """Whether it is one of the two that the built-in model was trained for."""
    prompt: PromptName = "short"
    """Which named prompt the instruction is."""
    examples: tuple[Example, ...] = ()
    """Shown to the model before the text, as earlier turns of the conversation."""

    @property
    def trained(self) -> bool:
        """Whether the built-in model was trained to answer it as it is asked here."""
        return self.builtin and self.prompt == "short" and not self.examples


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed answer text (JSON, or a label) and who proposed it: `rules`, `tagger`, `lookup`, `prediction`."""

    text: str
    source: str
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """Where drafted values stand in the source text, by their paths as in an answer's `fields`; those known."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range `[start, end)` of code points in the source text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value came from and how sure the model was of it."""

    spans: tuple[Span, ...]
    match: Match
    confidence: float | None
    """None where the engine tells no probabilities, as some servers do."""
    draft: Literal["kept", "corrected"] | None = field(default=None, compare=False)
    """What became of the value's draft, if all of it was drafted: how the answer came about, not what it is."""

    def to_dict(self) -> Json:
        spans = [[span.start, span.end] for span in self.spans]
        result: Json = {
            "span": None if not spans else spans[0] if len(spans) == 1 else spans,
            "match": self.match,
            "confidence": self.confidence,
        }
        if self.draft is not None:
            result["draft"] = self.draft
        return result


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole prompt, those of them that were already in the cache, and of the answer."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Answer(Generic[Value]):
    """A finished answer. `value` is what the caller asked for: a dict, a pydantic object, or a label."""

    value: Value
    fields: Mapping[str, Field]
    confidence: float | None
    """None where the engine tells no probabilities, as some servers do."""
    verified: bool
    draft: str | None
    accepted: float | None
    """Share of the open tokens that a draft proposed and the model kept; None when nothing was drafted."""
    passes: int
    """0 where an engine wrote the whole answer by itself: how it came about is then not known."""
    model: str
    engine: str
    usage: Usage
    ms: float
    truncated: bool = False
    labels: Mapping[str, float] = field(default_factory=dict)
    """Classification only: each label's probability among the labels; empty where the engine does not tell them."""
    label_mass: float | None = None
    """Classification only: the probability that the model itself gives to all labels together."""
    abstained: bool = False
    """Classification only: `value` is None because the best label's confidence was below `abstain_below`."""

    def to_dict(self) -> Json:
        """The answer as `--details` prints it. A pydantic value is dumped by alias."""
        value: Any = self.value
        if hasattr(value, "model_dump"):
            value = value.model_dump(mode="json", by_alias=True)
        result: Json = {"value": value}
        if self.labels:
            result["labels"] = dict(self.labels)
            result["label_mass"] = self.label_mass
        else:
            result["fields"] = {name: field.to_dict() for name, field in self.fields.items()}
        result |= {
            "confidence": self.confidence,
            "verified": self.verified,
            "draft": self.draft,
            "accepted": self.accepted,
            "passes": self.passes,
            "model": self.model,
            "engine": self.engine,
            "usage": {
                "prompt_tokens": self.usage.prompt_tokens,
                "cached_tokens": self.usage.cached_tokens,
                "completion_tokens": self.usage.completion_tokens,
            },
            "ms": self.ms,
        }
        if self.truncated:
            result["truncated"] = True
        if self.abstained:
            result["abstained"] = True
        return result


@dataclass(frozen=True, slots=True)
class Failure:
    """A row that could not be answered; stands in its place among the answers."""

    code: str
    message: str

    def to_dict(self) -> Json:
        return {"error": {"code": self.code, "message": self.message}}


Messages = Sequence[Mapping[str, str]]
"""A conversation: `role` (`system`, `user`, `assistant`) and `content` of each turn, oldest first."""
Thinking = Literal["auto", "on", "off"]
Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. Filters (`top_k`, `top_p`, `min_p`) apply after legality, penalties before everything."""

    temperature: float = 0.0
    """0 takes the most probable token."""
    top_p: float = 1.0
    top_k: int = 0
    """0 keeps all."""
    min_p: float = 0.0
    """Share of the best token's probability below which a token is dropped."""
    repetition_penalty: float = 1.0
    """Divides positive and multiplies negative scores of tokens in prompt or reply (CTRL, Keskar et al. 2019)."""
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    """As in the OpenAI API: subtracted once, and for each time, a token stands in the reply."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a reply must be. At most one is set; none leaves it free."""

    schema: Schema | None = None
    json_object: bool = False
    """Any JSON object."""
    regex: str | None = None
    choice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of a reply and what the model said of it; `top` are the most probable ones in its place."""

    text: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """What came next of a reply: text, in whole characters, of the content or of the reasoning before it."""

    content: str = ""
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished turn of a conversation."""

    content: str
    reasoning: str | None
    """What the model thought before it answered; None when thinking was off."""
    finish: Finish
    value: Any
    """The content as a value, if it was held to a schema or to be a JSON object; else None."""
    verified: bool
    draft: str | None
    accepted: float | None
    passes: int
    model: str
    engine: str
    usage: Usage
    ms: float
    truncated: bool = False
    """Whether older turns, or the beginning of one, were left out to fit the context."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Of the content's tokens, where asked for."""
