"""Options of chat settled: presets, what overrides them, reasoning."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from copydesk.errors import SchemaError, UsageError
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS
from copydesk.tasks.chat import chat_request, completion_request, is_trained
from copydesk.tasks.presets import PRESETS, THINKING_FACTOR
from copydesk.types import Constraint, Sampling


class Person(BaseModel):
    name: str


def test_a_text_is_the_only_message_and_the_preset_is_fast() -> None:
    request = chat_request("hello")
    assert request.messages == [{"role": "user", "content": "hello"}]
    assert (request.sampling, request.max_tokens) == (PRESETS["fast"].sampling, 256)
    assert (request.sampling.temperature, request.thinking) == (0.0, False)
    assert request.sampling.repetition_penalty > 1.0


def test_balanced_is_sampled_and_longer() -> None:
    request = chat_request("hello", preset="balanced")
    assert (request.sampling, request.max_tokens) == (Sampling(temperature=0.6, top_p=0.9), 512)


def test_options_override_the_preset_and_none_does_not() -> None:
    request = chat_request("hello", preset="balanced", temperature=0.0, top_p=None, seed=7, max_tokens=9)
    assert request.sampling == Sampling(temperature=0.0, top_p=0.9, seed=7)
    assert request.max_tokens == 9


def test_reasoning_gets_room_of_its_own_unless_the_caller_says_how_long() -> None:
    assert chat_request("why?").max_tokens == THINKING_FACTOR * 256
    assert chat_request("why?").thinking
    assert chat_request("why?", max_tokens=100).max_tokens == 100
    assert chat_request("why?", thinking="off").max_tokens == 256
    assert chat_request("hello", thinking="on", preset="balanced").max_tokens == THINKING_FACTOR * 512


def test_schemas_and_constraints() -> None:
    assert chat_request("hello").constraint == Constraint()
    found = chat_request("hello", schema=Person).constraint.schema
    assert found is not None
    assert (found.model, found.json["required"]) == (Person, ["name"])
    assert chat_request("hello", constraint=Constraint(regex="a")).constraint == Constraint(regex="a")


def test_a_built_in_tasks_schema_is_that_task_unless_the_caller_instructs() -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in ADDRESS_FIELDS}}
    request = chat_request("江雨桐", schema=schema)
    assert [message["content"] for message in request.messages] == [ADDRESS.instruction, "江雨桐"]
    assert is_trained(request)
    for own in (
        chat_request([{"role": "system", "content": "x"}, {"role": "user", "content": "江雨桐"}], schema=schema),
        chat_request("江雨桐", schema={"type": "object", "properties": {"sender": {"type": "string"}}}),
        chat_request("江雨桐"),
    ):
        assert ADDRESS.instruction not in [message["content"] for message in own.messages]
        assert not is_trained(own)


def test_a_constraints_schema_may_be_of_any_kind() -> None:
    for schema in (Person, Person.model_json_schema()):
        given = chat_request("x", constraint=Constraint(schema=schema)).constraint  # type: ignore[arg-type]
        assert given == chat_request("x", schema=schema).constraint


def test_stops_and_predictions_are_texts() -> None:
    assert chat_request("hello", stop="a").stop == ("a",)
    assert chat_request("hello", stop=["a", "b"]).stop == ("a", "b")
    assert chat_request("hello", stop=None).stop == chat_request("hello", stop="").stop == ()
    assert chat_request("hello", prediction="x").prediction == "x"
    assert chat_request("hello", prediction={"a": "天"}).prediction == '{"a": "天"}'
    assert chat_request("hello", prediction={1, 2}).prediction is None


def test_a_completion_has_a_prompt_and_no_reasoning() -> None:
    request = completion_request("why?", preset="balanced", stop="a")
    assert (request.prompt, request.messages, request.thinking, request.max_tokens) == ("why?", (), False, 512)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"preset": "slow"}, UsageError),
        ({"thinking": True}, UsageError),
        ({"stop": 3}, UsageError),
        ({"constraint": "yes|no"}, UsageError),
        ({"schema": Person, "constraint": Constraint(regex="a")}, UsageError),
        ({"schema": "name"}, SchemaError),
        ({"temperature": "hot"}, UsageError),
        ({"seed": 2**64}, UsageError),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        chat_request("hello", **options)
