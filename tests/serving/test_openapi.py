"""The OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from copydesk.serving.openapi import document
from serving.fakes import FakeBackend, Server, answer_of

pytestmark = pytest.mark.anyio


def test_every_reference_leads_somewhere() -> None:
    whole = document()

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            if isinstance(target := value.get("$ref"), str):
                found: Any = whole
                for step in target.removeprefix("#/").split("/"):
                    found = found[step]
            for item in value.values():
                walk(item)

    walk(json.loads(json.dumps(whole)))


async def test_it_lists_the_routes_there_are() -> None:
    async with Server().client() as client:
        served = (await client.get("/openapi.json")).json()
        assert served == json.loads(json.dumps(document()))
        for path, methods in served["paths"].items():
            for method in methods:
                response = await client.request(method, path.replace("{model}", "fake"))
                assert response.status_code not in (404, 405), path


async def test_answers_are_as_it_says() -> None:
    components = document()["components"]
    label = answer_of("a", labels={"a": 0.5, "b": 0.5})
    server = Server(FakeBackend(answer=lambda text: label if text == "label" else answer_of({})))
    question = {"type": "predicate", "instructions": "?"}
    for path, body in (
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("/v1/completions", {"prompt": "Hi"}),
    ):
        schema = document()["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate((await server.post(path, body)).json(), schema)
    for path, body in (("/v1/extract", {"text": "x"}), ("/v1/classify", {"text": "label"})):
        jsonschema.validate((await server.post(path, body)).json(), components["schemas"]["Answer"])
    refused = await server.post("/v1/decisions", {"input": 1, "questions": [question]})
    jsonschema.validate(refused.json(), components["schemas"]["Error"])
