"""The bodies of copydesk's own two calls: one text or many, a schema or labels, and options as in Python.

Knows the form only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from copydesk.serving.wire.base import Wire
from copydesk.serving.wire.constraint import JsonSchema


class Asked(Wire):
    """What both calls have."""

    model: str | None = None
    text: str | None = None
    texts: Annotated[list[str], Field(min_length=1)] | None = None
    """Instead of `text`: the answer is a list in the same order, a text that failed an error in its place."""
    prompt: Literal["short", "guide"] | None = None
    """The wording of the instruction; the built-in model was trained with `short`, the default."""
    details: bool = True
    """False leaves only the value."""
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    truncate: bool | None = None


class ExtractBody(Asked):
    """An extraction; with neither `schema` nor `task` it is the address task."""

    json_schema: Annotated[JsonSchema | None, Field(alias="schema")] = None
    task: Literal["address"] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    draft: bool | None = None
    prediction: Any = None
    """Your own guess, as a value or as JSON text; with `text` only."""


class ClassifyBody(Asked):
    """A classification; with neither `labels` nor `task` it is the news task."""

    labels: list[str] | None = None
    task: Literal["agnews"] | None = None
    abstain_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """Give no label, `value` null, where the confidence of the best is below this."""
