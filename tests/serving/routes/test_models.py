"""The names of the models."""

from __future__ import annotations

import pytest

from serving.fakes import Server

pytestmark = pytest.mark.anyio


async def test_all_models_and_each() -> None:
    server = Server()
    async with server.client() as client:
        listed = (await client.get("/v1/models")).json()
        assert listed["object"] == "list"
        assert [card["id"] for card in listed["data"]] == ["fake", "other/model"]
        assert (await client.get("/v1/models/other/model")).json() == listed["data"][1]
        missing = await client.get("/v1/models/none")
    assert missing.status_code == 404
    assert missing.json()["error"]["code"] == "model_not_found"
    assert [finished.route for finished in server.recorder.finished] == [
        "/v1/models",
        "/v1/models/{model}",
        "/v1/models/{model}",
    ]


async def test_only_those_that_the_key_may_use() -> None:
    server = Server()
    server.gate.models = frozenset({"fake"})
    async with server.client() as client:
        assert [card["id"] for card in (await client.get("/v1/models")).json()["data"]] == ["fake"]
        assert (await client.get("/v1/models/other/model")).status_code == 404
