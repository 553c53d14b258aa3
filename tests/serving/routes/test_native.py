"""copydesk's own calls: one text or many."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.errors import EngineError, SchemaError, TextError
from copydesk.types import Answer
from serving.fakes import FakeBackend, Server, answer_of

pytestmark = pytest.mark.anyio


def label(text: str) -> Answer[Any]:
    return answer_of("Sports", labels={"World": 0.1, "Sports": 0.9}, draft=None, accepted=None)


async def test_an_extraction() -> None:
    server = Server()
    body = (await server.post("/v1/extract", {"text": "长沙"})).json()
    assert body == answer_of({"city": "长沙"}).to_dict()
    text, task, options = server.backend.calls[0]
    assert (text, task.name) == ("长沙", "address")
    assert options == {
        "temperature": 0.0,
        "seed": 0,
        "truncate": False,
        "max_tokens": None,
        "draft": True,
        "prediction": None,
    }


async def test_options_and_a_schema() -> None:
    server = Server()
    schema = {"title": "thing", "type": "object", "properties": {"a": {"type": "string"}}}
    await server.post(
        "/v1/extract",
        {
            "text": "x",
            "schema": schema,
            "temperature": 1,
            "seed": 2,
            "truncate": True,
            "max_tokens": 3,
            "draft": False,
            "prediction": {"a": "x"},
        },
    )
    _, task, options = server.backend.calls[0]
    assert (task.name, task.schema.json) == ("thing", schema)
    assert list(options.values()) == [1, 2, True, 3, False, {"a": "x"}]


async def test_many_texts_keep_their_places() -> None:
    def answer(text: str) -> Answer[Any]:
        if text == "bad":
            raise TextError("The text is empty.", code="empty_text")
        return answer_of({"city": text})

    server = Server(FakeBackend(answer=answer))
    body = (await server.post("/v1/extract", {"texts": ["a", "bad", "b"], "details": False})).json()
    assert body == [{"city": "a"}, {"error": {"code": "empty_text", "message": "The text is empty."}}, {"city": "b"}]
    finished = server.recorder.finished[0]
    assert (finished.answers, finished.passes) == (2, 4)
    assert finished.usage is not None
    assert finished.usage.prompt_tokens == 14


async def test_what_meets_every_text_is_the_request_s() -> None:
    def broken(text: str) -> Answer[Any]:
        raise EngineError("It broke.")

    response = await Server(FakeBackend(answer=broken)).post("/v1/extract", {"texts": ["a", "b"]})
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"


async def test_one_text_s_error_has_a_status() -> None:
    def refuse(text: str) -> Answer[Any]:
        raise TextError("The text is empty.", code="empty_text")

    response = await Server(FakeBackend(answer=refuse)).post("/v1/extract", {"text": ""})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "empty_text"


async def test_a_schema_that_cannot_be_honoured_is_named() -> None:
    def refuse(text: str) -> Answer[Any]:
        raise SchemaError("The schema's contains at # is not supported.")

    response = await Server(FakeBackend(answer=refuse)).post("/v1/extract", {"text": "x", "schema": {"contains": {}}})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unsupported_schema"
    assert response.json()["error"]["param"] == "schema"
    assert "contains" in response.json()["error"]["message"]


async def test_a_classification() -> None:
    server = Server(FakeBackend(answer=label))
    body = (await server.post("/v1/classify", {"text": "x"})).json()
    assert (body["value"], body["labels"]) == ("Sports", {"World": 0.1, "Sports": 0.9})
    assert server.backend.calls[0][1].name == "agnews"
    brief = await server.post("/v1/classify", {"texts": ["x"], "labels": ["a", "b"], "details": False})
    assert brief.json() == [{"label": "Sports", "confidence": 0.8}]
    assert server.backend.calls[1][1].labels == ("a", "b")


async def test_another_prompt_and_no_label_where_the_model_is_unsure() -> None:
    unsure = answer_of(None, labels={"a": 0.5, "b": 0.5}, abstained=True, confidence=0.5)
    server = Server(FakeBackend(answer=lambda text: unsure))
    body = {"text": "x", "labels": ["a", "b"], "prompt": "guide", "abstain_below": 0.9, "details": False}
    assert (await server.post("/v1/classify", body)).json() == {"label": None, "confidence": 0.5, "abstained": True}
    _, task, options = server.backend.calls[0]
    assert (task.prompt, options["abstain_below"]) == ("guide", 0.9)
    await server.post("/v1/extract", {"text": "x", "prompt": "guide"})
    assert server.backend.calls[1][1].prompt == "guide"


async def test_who_wrote_what_no_model_verified() -> None:
    server = Server(FakeBackend(answer=lambda text: answer_of({}, verified=False)))
    response = await server.post("/v1/extract", {"text": "x"})
    assert response.headers["x-copydesk-source"] == "rules"
    assert server.recorder.finished[0].verified is False
    assert "x-copydesk-source" not in (await Server().post("/v1/extract", {"text": "x"})).headers


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("extract", {}, "text"),
        ("extract", {"text": "a", "texts": ["b"]}, "text"),
        ("extract", {"texts": []}, "texts"),
        ("extract", {"texts": ["a"] * 300}, "texts"),
        ("extract", {"texts": ["a", 1]}, "texts[1]"),
        ("extract", {"text": "x" * 300_000}, "text"),
        ("extract", {"texts": ["", "x" * 300_000]}, "texts[1]"),
        ("extract", {"text": "a", "schema": {}, "task": "address"}, "task"),
        ("extract", {"text": "a", "task": "poem"}, "task"),
        ("extract", {"text": "a", "schema": True}, "schema"),
        ("extract", {"text": "a", "schema": {"description": "x" * 70_000}}, "schema"),
        ("extract", {"text": "a", "max_tokens": 10**6}, "max_tokens"),
        ("extract", {"text": "a", "seed": -1}, "seed"),
        ("extract", {"texts": ["a"], "prediction": "x"}, "prediction"),
        ("classify", {"text": "a", "labels": ["a", "b"], "task": "agnews"}, "task"),
        ("classify", {"text": "a", "labels": ["x"] * 300}, "labels"),
        ("classify", {"text": "a", "labels": "a,b"}, "labels"),
        ("classify", {"text": "a", "details": None}, "details"),
        ("classify", {"text": "a", "abstain_below": 2}, "abstain_below"),
        ("extract", {"text": "a", "prompt": "long"}, "prompt"),
        ("classify", {"text": "a", "labels": ["a"]}, None),
    ],
)
async def test_what_is_refused(path: str, body: dict[str, Any], param: str | None) -> None:
    server = Server()
    response = await server.post(f"/v1/{path}", body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
    assert server.backend.calls == []
