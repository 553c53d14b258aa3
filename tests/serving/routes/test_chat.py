"""Chat completions: what reaches the model, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from copydesk.errors import EngineError, LengthError, SchemaError
from copydesk.types import Delta
from serving.fakes import FakeBackend, FakeReplies, Server, answer_of, events, with_logprobs

pytestmark = pytest.mark.anyio

ADDRESS_KEYS = ("province", "city", "district", "specific_location", "name", "phone")
ADDRESS_SCHEMA = {"type": "object", "properties": {key: {"type": "string"} for key in ADDRESS_KEYS}}
NAMED = {"type": "json_schema", "json_schema": {"name": "r", "strict": True, "schema": {"type": "object"}}}
TOOL = {"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}
NEWS = ["Sports", "World", "Business", "Sci/Tech"]


async def asked(**body: Any) -> Any:
    """What the model is asked for a request."""
    server = Server()
    response = await server.chat(**body)
    assert response.status_code == 200, response.text
    return server.backend.calls[0]


async def refused(server: Server | None = None, status: int = 400, **body: Any) -> dict[str, Any]:
    """The error that a request is refused with, nothing having reached the model."""
    server = server or Server()
    response = await server.chat(**body)
    assert response.status_code == status, response.text
    assert server.backend.calls == []
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


async def test_a_reply_in_openai_s_form() -> None:
    body = (await Server().chat(model="fake")).json()
    assert body["object"] == "chat.completion"
    assert body["id"].startswith("chatcmpl-")
    assert body["model"] == "fake"
    message = {"role": "assistant", "content": "Hello", "refusal": None}
    assert body["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    assert body["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    assert body["copydesk"]["passes"] == 4
    assert body["copydesk"]["verified"] is True


async def test_messages_are_plain_turns() -> None:
    call = await asked(
        messages=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "name": "ann", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "done"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "user", "content": ""},
        ]
    )
    assert call.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "ab"},
        {"role": "assistant", "content": "{}"},
        {"role": "user", "content": "done"},
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": ""},
    ]


async def test_options_reach_the_model() -> None:
    call = await asked(
        temperature=0.5,
        top_p=0.9,
        top_k=-1,
        min_p=0.1,
        repetition_penalty=1.1,
        presence_penalty=0.2,
        frequency_penalty=-0.3,
        seed=-1,
        max_tokens=9,
        stop="\n",
        preset="balanced",
        truncate=True,
        draft=False,
        prediction={"type": "content", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
        chat_template_kwargs={"enable_thinking": False, "other": 1},
        unknown={"deep": [1]},
    )
    assert (call.max_tokens, call.stop, call.preset, call.truncate, call.draft) == (9, ("\n",), "balanced", True, False)
    assert (call.prediction, call.thinking) == ("Hello", "off")
    choosing = call.choosing
    assert (choosing.temperature, choosing.top_p, choosing.top_k, choosing.min_p) == (0.5, 0.9, 0, 0.1)
    assert (choosing.repetition_penalty, choosing.presence_penalty, choosing.frequency_penalty) == (1.1, 0.2, -0.3)
    assert choosing.seed == 2**63 - 1


async def test_what_is_left_out_is_left_to_the_model() -> None:
    server = Server()
    await server.chat()
    await server.chat(max_completion_tokens=3, max_tokens=5, seed=4, stop=None)
    first, second = server.backend.calls
    assert (first.thinking, first.constraint, first.stop, first.prediction) == ("auto", None, (), None)
    assert first.choosing.temperature is None
    assert first.max_tokens == server.limits.max_answer_tokens
    assert (second.max_tokens, second.choosing.seed) == (3, 4)


async def test_without_a_seed_every_request_has_its_own() -> None:
    assert (await asked()).choosing.seed != (await asked()).choosing.seed


@pytest.mark.parametrize(
    ("body", "constraint"),
    [
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}}, "schema"),
        ({"response_format": {"type": "json_object"}}, "json_object"),
        ({"structured_outputs": {"json": {"type": "object"}}}, "schema"),
        ({"structured_outputs": {"json": '{"type": "object"}'}}, "schema"),
        ({"structured_outputs": {"json_object": True}}, "json_object"),
        ({"structured_outputs": {"regex": "a+"}}, "regex"),
        ({"structured_outputs": {"choice": ["a", "b"]}}, "choice"),
        ({"guided_json": {"type": "object"}}, "schema"),
        ({"guided_regex": "a+"}, "regex"),
        ({"guided_choice": ["a", "b"]}, "choice"),
        ({"tools": [TOOL], "tool_choice": "required"}, "schema"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "note"}}}, "schema"),
    ],
)
async def test_each_form_of_constraint(body: dict[str, Any], constraint: str) -> None:
    wanted = (await asked(**body)).constraint
    given = {name for name in ("schema", "json_object", "regex", "choice") if getattr(wanted, name)}
    assert given == {constraint}


@pytest.mark.parametrize(
    "body",
    [
        {"response_format": {"type": "text"}},
        {"tools": [TOOL]},
        {"tools": [TOOL], "tool_choice": "auto"},
        {"tools": [TOOL], "tool_choice": "none"},
        {"structured_outputs": {"json_object": False}},
        {"function_call": "auto"},
    ],
)
async def test_a_free_reply(body: dict[str, Any]) -> None:
    assert (await asked(**body)).constraint is None


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"response_format": NAMED, "guided_choice": ["a"]}, "guided_choice"),
        ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "structured_outputs.choice"),
        ({"response_format": NAMED, "tools": [TOOL], "tool_choice": "required"}, "tools"),
        ({"structured_outputs": {"grammar": "root ::= 'a'"}}, "structured_outputs.grammar"),
        ({"structured_outputs": {"structural_tag": "{}"}}, "structured_outputs.structural_tag"),
        ({"structured_outputs": {"json": {}, "whitespace_pattern": " "}}, "structured_outputs.whitespace_pattern"),
        ({"guided_grammar": "root ::= 'a'"}, "guided_grammar"),
        ({"guided_whitespace_pattern": " "}, "guided_whitespace_pattern"),
        ({"guided_json": "no JSON"}, "guided_json"),
        ({"guided_json": "[1]"}, "guided_json"),
        ({"guided_choice": []}, "guided_choice"),
        ({"guided_choice": ["x"] * 300}, "guided_choice"),
        ({"guided_choice": ["x" * 2000]}, "guided_choice"),
        ({"guided_regex": "x" * 2000}, "guided_regex"),
        ({"guided_json": '"' + "x" * 70_000 + '"'}, "guided_json"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
        ({"response_format": {"type": "grammar"}}, "response_format.type"),
        ({"tools": [TOOL, TOOL], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
        ({"function_call": {"name": "note"}}, "function_call"),
        ({"continue_final_message": True}, "continue_final_message"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"n": 9}, "n"),
        ({"n": 0}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 10**6}, "max_tokens"),
        ({"max_completion_tokens": 10**6}, "max_completion_tokens"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": "0.5"}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"stop": [""]}, "stop"),
        ({"stop": "x", "guided_regex": "a"}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"messages": []}, "messages"),
        ({"messages": "Hi"}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "king", "content": "Hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "user", "content": "Hi"}] * 300}, "messages"),
        ({"messages": [{"role": "user", "content": "x" * 300_000}]}, "messages[0].content"),
        ({"prediction": {"type": "content", "content": [{"type": "input_audio"}]}}, "prediction.content[0]"),
    ],
)
async def test_what_is_refused(body: dict[str, Any], param: str) -> None:
    assert (await refused(**body))["param"] == param


async def test_a_schema_is_bounded_in_size_depth_and_patterns() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"items": deep}
    large = {"description": "x" * 70_000}
    pattern = {"properties": {"a": {"anyOf": [{"pattern": "x" * 2000}]}}}
    keys = {"patternProperties": {"x" * 2000: {}}}
    codes = [
        (await refused(response_format={"type": "json_schema", "json_schema": {"schema": schema}}))["code"]
        for schema in (deep, large, pattern, keys)
    ]
    assert codes == ["schema_too_deep", "schema_too_large", "regex_too_long", "regex_too_long"]
    assert (await asked(guided_json={"properties": {"a": {"const": {"pattern": "x" * 2000}}}})).constraint


async def test_booleans_are_schemas_too() -> None:
    assert (await asked(guided_json=True)).constraint.schema.json == {}
    assert (await asked(guided_json=False)).constraint.schema.json == {"not": {}}


async def test_a_schema_with_a_built_in_task_s_keys_is_that_task() -> None:
    server = Server()
    format_ = {"type": "json_schema", "json_schema": {"name": "r", "schema": ADDRESS_SCHEMA}}
    response = await server.chat(response_format=format_, temperature=0.2, seed=3, prediction=guess("x"), truncate=True)
    text, task, options = server.backend.calls[0]
    assert (text, task.name, task.builtin) == ("Hi", "address", True)
    assert options == {
        "temperature": 0.2,
        "seed": 3,
        "max_tokens": None,
        "truncate": True,
        "draft": True,
        "prediction": "x",
    }
    choice = response.json()["choices"][0]
    assert choice["message"]["content"] == '{"city": "Hi"}'
    assert choice["finish_reason"] == "stop"
    assert response.json()["copydesk"]["draft"] == "rules"


@pytest.mark.parametrize(
    "more",
    [
        {"messages": [{"role": "system", "content": "Be odd."}, {"role": "user", "content": "Hi"}]},
        {"messages": [{"role": "developer", "content": "Be odd."}, {"role": "user", "content": "Hi"}]},
        {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "Hi"}]},
        {"chat_template_kwargs": {"enable_thinking": True}},
    ],
)
async def test_with_anything_more_it_is_a_chat(more: dict[str, Any]) -> None:
    call = await asked(guided_json=ADDRESS_SCHEMA, **more)
    assert call.constraint.schema.json == ADDRESS_SCHEMA


async def test_a_choice_between_the_news_labels_is_the_news_task() -> None:
    server = Server(FakeBackend(answer=lambda text: answer_of("Sports", labels={"Sports": 0.9}, draft=None)))
    response = await server.chat(guided_choice=NEWS)
    text, task, _ = server.backend.calls[0]
    assert (text, task.name, list(task.labels)) == ("Hi", "agnews", NEWS)
    assert response.json()["choices"][0]["message"]["content"] == "Sports"
    assert (await asked(guided_choice=NEWS[1:])).constraint.choice == tuple(NEWS[1:])


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"stop": ["x"]}, "stop"),
        ({"top_p": 0.5}, "top_p"),
        ({"repetition_penalty": 1.2}, "repetition_penalty"),
    ],
)
async def test_a_task_leaves_nothing_out_unsaid(more: dict[str, Any], param: str) -> None:
    assert (await refused(guided_json=ADDRESS_SCHEMA, **more))["param"] == param


async def test_neutral_values_are_none() -> None:
    _, task, _ = await asked(
        guided_json=ADDRESS_SCHEMA, top_p=1, top_k=-1, presence_penalty=0, frequency_penalty=0.0, stop=[], n=1
    )
    assert task.builtin


async def test_a_forced_function() -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([Delta(content='{"a": '), Delta(content="1}")])))
    named = {"type": "function", "function": {"name": "note"}}
    for choice, finish in ((named, "stop"), ("required", "tool_calls")):
        body = (await server.chat(tools=[TOOL], tool_choice=choice, parallel_tool_calls=True)).json()["choices"][0]
        call = {"id": "call_0", "type": "function", "function": {"name": "note", "arguments": '{"a": 1}'}}
        assert body["message"] == {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
        assert body["finish_reason"] == finish


async def test_a_function_without_parameters_takes_none() -> None:
    tool = {"type": "function", "function": {"name": "ping"}}
    schema = (await asked(tools=[tool], tool_choice="required")).constraint.schema.json
    assert schema == {"type": "object", "properties": {}, "additionalProperties": False}


async def test_a_function_of_an_address_is_the_address_task() -> None:
    tool = {"type": "function", "function": {"name": "save", "parameters": ADDRESS_SCHEMA}}
    server = Server()
    body = (await server.chat(tools=[tool], tool_choice="required")).json()
    assert server.backend.calls[0][1].name == "address"
    assert body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Hi"}'


async def test_reasoning_is_apart() -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([Delta(reasoning="Hm."), Delta(content="Yes")])))
    message = (await server.chat(chat_template_kwargs={"enable_thinking": True})).json()["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("Hm.", "Yes")
    assert server.backend.calls[0].thinking == "on"
    streamed = events(await server.chat(stream=True))
    deltas = [event["choices"][0]["delta"] for event in streamed[:-1]]
    assert deltas == [{"role": "assistant", "content": ""}, {"reasoning_content": "Hm."}, {"content": "Yes"}, {}]


async def test_token_probabilities() -> None:
    server = Server(FakeBackend(replies=with_logprobs))
    choice = (await server.chat(logprobs=True, top_logprobs=2)).json()["choices"][0]
    first, second = choice["logprobs"]["content"]
    assert (first["token"], first["logprob"], first["bytes"]) == ("Hi", -0.1, [72, 105])
    assert [top["token"] for top in first["top_logprobs"]] == ["Hi", "Yo"]
    assert (second["token"], second["logprob"], second["bytes"]) == ("�", -9999.0, [0xC3])
    call = server.backend.calls[0]
    assert (call.logprobs, call.top_logprobs) == (True, 2)
    streamed = events(await server.chat(stream=True, logprobs=True))
    assert len(streamed[1]["choices"][0]["logprobs"]["content"]) == 2


async def test_several_choices_have_seeds_of_their_own() -> None:
    server = Server()
    body = (await server.chat(n=3, seed=5)).json()
    assert [call.choosing.seed for call in server.backend.calls] == [5, 6, 7]
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
    assert body["usage"]["completion_tokens"] == 15


async def test_several_choices_of_a_task() -> None:
    server = Server()
    body = (await server.chat(n=2, guided_json=ADDRESS_SCHEMA, temperature=1)).json()
    assert len(body["choices"]) == 2
    assert server.recorder.finished[0].answers == 2


async def test_one_failing_choice_fails_the_request_and_frees_the_others() -> None:
    scripts = [FakeReplies([EngineError("broken")]), FakeReplies([Delta(content="x")] * 50, pace=0.1)]
    server = Server(FakeBackend(replies=lambda: scripts.pop(0)))
    response = await server.chat(n=2)
    assert response.status_code == 503
    assert server.backend.opened[1].cancelled


async def test_a_stream() -> None:
    response = await Server().chat(stream=True, stream_options={"include_usage": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    *chunks, usage, end = events(response)
    assert end == "[DONE]"
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == 12
    assert [chunk["usage"] for chunk in chunks] == [None] * 4
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas == [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, {}]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, None, "stop"]
    assert chunks[-1]["copydesk"]["passes"] == 4


async def test_a_stream_without_usage() -> None:
    streamed = events(await Server().chat(stream=True))
    assert all("usage" not in chunk for chunk in streamed[:-1])


async def test_a_stream_of_several_choices() -> None:
    streamed = events(await Server().chat(stream=True, n=2))[:-1]
    for index in (0, 1):
        own = [chunk["choices"][0] for chunk in streamed if chunk["choices"][0]["index"] == index]
        assert "".join(choice["delta"].get("content", "") for choice in own) == "Hello"
        assert own[-1]["finish_reason"] == "stop"


async def test_a_stream_of_a_function() -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([Delta(content="{"), Delta(content="}")])))
    streamed = events(await server.chat(stream=True, tools=[TOOL], tool_choice="required"))[:-1]
    calls = [chunk["choices"][0]["delta"].get("tool_calls", [{}])[0] for chunk in streamed]
    assert calls[0]["function"] == {"name": "note", "arguments": ""}
    assert "".join(call["function"]["arguments"] for call in calls[1:-1]) == "{}"
    assert streamed[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_stream_of_a_task() -> None:
    streamed = events(await Server().chat(stream=True, guided_json=ADDRESS_SCHEMA))
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in streamed[:-1])
    assert json.loads(text) == {"city": "Hi"}


async def test_what_fails_before_the_first_piece_has_a_status() -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([LengthError("No room.")])))
    for stream in (False, True):
        response = await server.chat(stream=stream)
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "length"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_schema_that_cannot_be_honoured_is_named_by_its_field(stream: bool) -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([SchemaError("contains is not supported.")])))
    error = (await server.chat(guided_json={"contains": {}}, stream=stream)).json()["error"]
    assert (error["code"], error["param"]) == ("unsupported_schema", "guided_json")


@pytest.mark.parametrize("error", [EngineError("It broke.", code="engine_failed"), ValueError("secret")])
async def test_what_fails_later_is_an_event(error: Exception) -> None:
    server = Server(FakeBackend(replies=lambda: FakeReplies([Delta(content="Hel"), error])))
    response = await server.chat(stream=True)
    assert response.status_code == 200
    *_, told, end = events(response)
    assert end == "[DONE]"
    assert told["error"]["code"] == ("engine_failed" if isinstance(error, EngineError) else "internal_error")
    assert "secret" not in response.text
    assert server.recorder.finished[0].outcome == told["error"]["code"]
    assert server.backend.opened[0].cancelled


def guess(text: str) -> dict[str, str]:
    return {"type": "content", "content": text}
