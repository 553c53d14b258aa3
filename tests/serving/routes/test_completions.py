"""Completions: texts continued without a template."""

from __future__ import annotations

from typing import Any

import pytest

from serving.fakes import FakeBackend, Server, events, with_logprobs

pytestmark = pytest.mark.anyio
PATH = "/v1/completions"


async def test_a_completion_in_openai_s_form() -> None:
    server = Server()
    body = (await server.post(PATH, {"prompt": "Once", "model": "fake"})).json()
    assert body["object"] == "text_completion"
    assert body["choices"] == [{"index": 0, "text": "Hello", "logprobs": None, "finish_reason": "stop"}]
    assert body["usage"]["total_tokens"] == 12
    call = server.backend.calls[0]
    assert (call.prompt, call.max_tokens, call.constraint, call.logprobs) == ("Once", 16, None, False)


async def test_several_prompts_and_choices() -> None:
    server = Server()
    body = (await server.post(PATH, {"prompt": ["a", "b"], "n": 2, "seed": 1, "max_tokens": 3, "stop": ["x"]})).json()
    asked = [(call.prompt, call.choosing.seed, call.max_tokens, call.stop) for call in server.backend.calls]
    assert asked == [("a", 1, 3, ("x",)), ("a", 2, 3, ("x",)), ("b", 1, 3, ("x",)), ("b", 2, 3, ("x",))]
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2, 3]


async def test_constraints_hold_here_too() -> None:
    server = Server()
    await server.post(PATH, {"prompt": "a", "structured_outputs": {"regex": "a+"}, "prediction": None})
    assert server.backend.calls[0].constraint.regex == "a+"


async def test_token_probabilities() -> None:
    server = Server(FakeBackend(replies=with_logprobs))
    choice = (await server.post(PATH, {"prompt": "a", "logprobs": 2})).json()["choices"][0]
    assert choice["logprobs"] == {
        "tokens": ["Hi", "�"],
        "token_logprobs": [-0.1, -9999.0],
        "top_logprobs": [{"Hi": -0.1, "Yo": -2.5}, {}],
        "text_offset": [0, 2],
    }
    assert server.backend.calls[0].top_logprobs == 2


async def test_a_stream() -> None:
    body = {"prompt": "a", "stream": True, "stream_options": {"include_usage": True}, "logprobs": 0}
    *chunks, usage, end = events(await Server(FakeBackend(replies=with_logprobs)).post(PATH, body))
    assert end == "[DONE]"
    assert usage["usage"]["completion_tokens"] == 5
    assert [chunk["choices"][0]["text"] for chunk in chunks] == ["Hi", ""]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[0]["choices"][0]["logprobs"]["text_offset"] == [0, 2]


async def test_a_stream_of_several_prompts() -> None:
    streamed = events(await Server().post(PATH, {"prompt": ["a", "b"], "stream": True}))[:-1]
    texts = ["", ""]
    for chunk in streamed:
        texts[chunk["choices"][0]["index"]] += chunk["choices"][0]["text"]
    assert texts == ["Hello", "Hello"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"prompt": "a", "echo": True}, "echo"),
        ({"prompt": "a", "suffix": "b"}, "suffix"),
        ({"prompt": "a", "best_of": 3}, "best_of"),
        ({"prompt": "a", "logprobs": 30}, "logprobs"),
        ({"prompt": "a", "logprobs": True}, "logprobs"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [1, 2]}, "prompt[0]"),
        ({"prompt": ["a"] * 200, "n": 2}, "prompt"),
        ({"prompt": ["a", "x" * 300_000]}, "prompt[1]"),
        ({}, "prompt"),
        ({"prompt": "a", "n": 100}, "n"),
    ],
)
async def test_what_is_refused(body: dict[str, Any], param: str) -> None:
    server = Server()
    response = await server.post(PATH, body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
    assert server.backend.calls == []
