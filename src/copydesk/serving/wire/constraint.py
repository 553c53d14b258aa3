"""How a request says what its reply must be: OpenAI's `response_format`, vLLM's `structured_outputs` and older forms.

Knows the forms only; what they mean is decided in `constraining`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from copydesk.serving.wire.base import Wire

JsonSchema = dict[str, Any] | bool


class NamedSchema(Wire):
    """The schema of a response format."""

    name: str | None = None
    description: str | None = None
    json_schema: Annotated[JsonSchema | None, Field(alias="schema")] = None
    strict: bool | None = None
    """Every schema is held to, whatever this says."""


class ResponseFormat(Wire):
    """OpenAI's form."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None


class StructuredOutputs(Wire):
    """vLLM's form: one of these is given."""

    json_schema: Annotated[JsonSchema | str | None, Field(alias="json")] = None
    regex: str | None = None
    choice: list[str] | None = None
    json_object: bool | None = None
    grammar: str | None = None
    """Refused: there is no EBNF here."""
    structural_tag: Any = None
    """Refused."""
    whitespace_pattern: str | None = None
    """Refused: answers have one layout."""


class Constrained(Wire):
    """What a reply must be. At most one form may be given."""

    response_format: ResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None
    guided_json: JsonSchema | str | None = None
    guided_choice: list[str] | None = None
    guided_regex: str | None = None
    guided_grammar: str | None = None
    """Refused."""
    guided_whitespace_pattern: str | None = None
    """Refused."""


class Function(Wire):
    """A function that the caller has."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    description: str | None = None
    parameters: JsonSchema | None = None
    strict: bool | None = None


class Tool(Wire):
    """A tool; only functions are known."""

    type: Literal["function"]
    function: Function


class NamedFunction(Wire):
    name: str


class NamedTool(Wire):
    """The tool that must be called."""

    type: Literal["function"]
    function: NamedFunction
