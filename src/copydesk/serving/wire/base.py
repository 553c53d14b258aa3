"""What request bodies have in common, and how what is wrong with one is said.

Unknown fields are ignored, as OpenAI's own server's clients expect of compatible ones; known ones are taken strictly:
`"0.5"` is no number. Knows no route.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from copydesk.serving.errors import ApiError


class Wire(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", protected_namespaces=())


class Sampled(Wire):
    """How the tokens of a reply are chosen. What is left out takes the preset's value."""

    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1)] | None = None
    """0 and -1 keep all."""
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None


Body = TypeVar("Body", bound=Wire)


def read(kind: type[Body], data: Any) -> Body:
    """The request that parsed JSON is. Errors: `ApiError` 400 that names the field, `param`, and not its value."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        placed = [(_place(problem["loc"], data), problem["msg"]) for problem in problems]
        # Of the branches of a union, the one that got furthest is the one that was meant.
        place, message = max(placed, key=lambda problem: len(problem[0]))
    param = shown(place)
    where = f"{param}: " if param else ""
    raise ApiError(400, f"{where}{message}.", param=param or None, code="invalid_request")


def shown(place: Sequence[str | int]) -> str:
    """A place in a body as OpenAI writes it: `messages[0].content`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _place(location: Sequence[str | int], data: Any) -> tuple[str | int, ...]:
    """pydantic's location without the names of types and branches that it puts between the steps."""
    place: list[str | int] = []
    for number, step in enumerate(location):
        known: Any = data if isinstance(data, dict) else dict(enumerate(data)) if isinstance(data, list) else {}
        if step in known:
            data = known[step]
        elif not (isinstance(data, dict) and number == len(location) - 1):
            continue
        place.append(step)
    return tuple(place)
