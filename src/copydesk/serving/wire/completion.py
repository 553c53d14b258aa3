"""The body of a completion: a text that is continued, without the chat template.

Knows the form only.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from copydesk.serving.wire.base import Sampled
from copydesk.serving.wire.chat import Prediction, Stop, StreamOptions
from copydesk.serving.wire.constraint import Constrained


class CompletionBody(Sampled, Constrained):
    """A completion."""

    model: str | None = None
    prompt: str | Annotated[list[str], Field(min_length=1)]
    prediction: Prediction | None = None
    draft: bool | None = None
    """copydesk's own: false answers without drafts; the answer is the same."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """16 where it is left out, as at OpenAI."""
    stop: Stop | None = None
    n: Annotated[int, Field(ge=1)] | None = None
    best_of: int | None = None
    """Refused unless it is `n`."""
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    echo: bool | None = None
    """Refused."""
    suffix: str | None = None
    """Refused."""
    stream: bool | None = None
    stream_options: StreamOptions | None = None
