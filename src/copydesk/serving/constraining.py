"""What a request says its reply must be, in whichever form, as one constraint. None is ever dropped: it is refused.

Knows the wire's forms and the sizes that are taken; whether a schema can be honoured is the desk's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from copydesk.serving.errors import ApiError
from copydesk.serving.measures import check_regex, check_schema, nested_deeper
from copydesk.serving.settings import Limits
from copydesk.serving.wire.chat import ChatBody
from copydesk.serving.wire.constraint import Constrained, Function, JsonSchema, NamedTool
from copydesk.types import Constraint, Json, Schema

_REFUSED = {
    "structured_outputs.grammar": "grammars are not supported; use json, regex or choice",
    "structured_outputs.structural_tag": "structural tags are not supported; use json, regex or choice",
    "structured_outputs.whitespace_pattern": "answers have one layout, which cannot be changed",
    "guided_grammar": "grammars are not supported; use a JSON Schema, guided_regex or guided_choice",
    "guided_whitespace_pattern": "answers have one layout, which cannot be changed",
}
_NO_PARAMETERS: Json = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A constraint, and the field of the request that asked for it."""

    constraint: Constraint
    param: str


def wanted(body: Constrained, limits: Limits) -> Wanted | None:
    """The one constraint of a request, tools left aside; None if its reply is free.

    Errors: `ApiError` 400 for two at once, one that is too large, and one of a kind that there is not.
    """
    for param, remedy in _REFUSED.items():
        if _at(body, param) is not None:
            raise ApiError(400, f"{param}: {remedy}.", param=param, code="unsupported_constraint")
    found = [*_of_format(body, limits), *_of_outputs(body, limits), *_of_guided(body, limits)]
    return _only(found)


def forced_function(body: ChatBody) -> Function | None:
    """The function that the reply must call. Errors: `ApiError` 400 for one that is not listed, or several."""
    if body.function_call not in (None, "none", "auto"):
        raise ApiError(
            400,
            "function_call is no longer taken; name the function in tools and tool_choice.",
            param="function_call",
            code="unsupported_constraint",
        )
    choice, tools = body.tool_choice, body.tools or []
    if choice in (None, "none", "auto"):
        return None
    if isinstance(choice, NamedTool):
        for tool in tools:
            if tool.function.name == choice.function.name:
                return tool.function
        raise ApiError(
            400, f"tool_choice names {choice.function.name!r}, which is not among the tools.", param="tool_choice"
        )
    if len(tools) != 1:
        raise ApiError(
            400,
            f"tool_choice 'required' takes exactly one tool, not {len(tools)}: which of several to call is not chosen "
            "here; name one in tool_choice.",
            param="tool_choice",
            code="unsupported_constraint",
        )
    return tools[0].function


def with_function(asked: Wanted | None, function: Function | None, limits: Limits) -> Wanted | None:
    """The constraint of a request whose reply may have to be a function's arguments. Errors: as `wanted`."""
    if function is None:
        return asked
    parameters = _NO_PARAMETERS if function.parameters is None else function.parameters
    return _only([*([asked] if asked else []), _schema(parameters, limits, "tools")])


def _of_format(body: Constrained, limits: Limits) -> list[Wanted]:
    asked = body.response_format
    if asked is None or asked.type == "text":
        return []
    if asked.type == "json_object":
        return [Wanted(Constraint(json_object=True), "response_format")]
    param = "response_format.json_schema"
    if asked.json_schema is None or asked.json_schema.json_schema is None:
        raise ApiError(400, f"{param}.schema: a response format json_schema needs a schema.", param=f"{param}.schema")
    return [_schema(asked.json_schema.json_schema, limits, f"{param}.schema")]


def _of_outputs(body: Constrained, limits: Limits) -> list[Wanted]:
    asked = body.structured_outputs
    if asked is None:
        return []
    found = []
    if asked.json_schema is not None:
        found.append(_schema(asked.json_schema, limits, "structured_outputs.json"))
    if asked.json_object:
        found.append(Wanted(Constraint(json_object=True), "structured_outputs.json_object"))
    if asked.regex is not None:
        found.append(_regex(asked.regex, limits, "structured_outputs.regex"))
    if asked.choice is not None:
        found.append(_choice(asked.choice, limits, "structured_outputs.choice"))
    return found


def _of_guided(body: Constrained, limits: Limits) -> list[Wanted]:
    found = []
    if body.guided_json is not None:
        found.append(_schema(body.guided_json, limits, "guided_json"))
    if body.guided_regex is not None:
        found.append(_regex(body.guided_regex, limits, "guided_regex"))
    if body.guided_choice is not None:
        found.append(_choice(body.guided_choice, limits, "guided_choice"))
    return found


def _schema(schema: JsonSchema | str, limits: Limits, param: str) -> Wanted:
    if isinstance(schema, str):
        schema = _parsed(schema, limits, param)
    check_schema(schema, limits, param)
    # The schema `true` is any value; `false` is refused by the desk, as nothing satisfies it.
    return Wanted(Constraint(schema=Schema(schema if isinstance(schema, dict) else _boolean(schema))), param)


def _boolean(schema: bool) -> Json:
    return {} if schema else {"not": {}}


def _parsed(text: str, limits: Limits, param: str) -> JsonSchema:
    written = text.encode()
    if len(written) > limits.max_schema_bytes or nested_deeper(written, limits.max_schema_depth):
        raise ApiError(
            400,
            f"{param}: a schema is at most {limits.max_schema_bytes:,} bytes long and {limits.max_schema_depth} levels "
            "deep.",
            param=param,
            code="schema_too_large",
        )
    try:
        schema = orjson.loads(written)
    except orjson.JSONDecodeError:
        schema = None
    if not isinstance(schema, dict | bool):
        raise ApiError(400, f"{param}: the text is no JSON Schema.", param=param, code="invalid_schema")
    return schema


def _regex(regex: str, limits: Limits, param: str) -> Wanted:
    check_regex(regex, limits, param)
    return Wanted(Constraint(regex=regex), param)


def _choice(choice: list[str], limits: Limits, param: str) -> Wanted:
    check_labels(choice, limits, param)
    if not choice:
        raise ApiError(400, f"{param}: there is nothing to choose from.", param=param, code="invalid_labels")
    return Wanted(Constraint(choice=tuple(choice)), param)


def check_labels(labels: list[str], limits: Limits, param: str) -> None:
    """Errors: `ApiError` 400 for too many labels, or too long ones."""
    if len(labels) > limits.max_labels:
        raise ApiError(
            400,
            f"{param}: {len(labels)} labels are too many; at most {limits.max_labels} are taken.",
            param=param,
            code="invalid_labels",
        )
    if any(len(label) > limits.max_regex_characters for label in labels):
        raise ApiError(
            400,
            f"{param}: a label is at most {limits.max_regex_characters:,} characters long.",
            param=param,
            code="invalid_labels",
        )


def _only(found: list[Wanted]) -> Wanted | None:
    if len(found) > 1:
        raise ApiError(
            400,
            f"A reply is held to one constraint, but {' and '.join(each.param for each in found)} are given.",
            param=found[1].param,
            code="several_constraints",
        )
    return found[0] if found else None


def _at(body: Constrained, param: str) -> Any:
    value: Any = body
    for step in param.split("."):
        value = getattr(value, step, None)
    return value
