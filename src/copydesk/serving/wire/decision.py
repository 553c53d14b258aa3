"""The body of OpenAI's Decisions API, as vLLM serves it since 0.33: an input, and questions about it.

Texts only. Knows the form only.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from copydesk.serving.wire.base import Wire


class InputPart(Wire):
    type: str
    text: str | None = None


class InputMessage(Wire):
    """A part of the input; who said it is not told to the model."""

    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[InputPart]


class Question(Wire):
    """What all questions have."""

    name: str | None = None
    instructions: Annotated[str, Field(min_length=1)]


class Predicate(Question):
    """How likely a statement about the input is true."""

    type: Literal["predicate"]


class Option(Wire):
    value: str | bool
    description: str = ""


class Choice(Question):
    """One of several values."""

    type: Literal["choice"]
    choices: Annotated[list[Option], Field(min_length=2, max_length=255)]


class Level(Wire):
    label: str
    description: str = ""


class Score(Question):
    """A place on a scale of levels, lowest first."""

    type: Literal["score"]
    levels: Annotated[list[Level], Field(min_length=2, max_length=10)]


AnyQuestion = Annotated[Predicate | Choice | Score, Field(discriminator="type")]


class DecisionBody(Wire):
    """Questions about one input."""

    model: str | None = None
    input: str | Annotated[list[InputMessage], Field(min_length=1)]
    questions: Annotated[list[AnyQuestion], Field(min_length=1, max_length=200)]
