"""A server as a process, asked plainly and by ChatOpenAI; what is said when either is missing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from copydesk.bench.engines.served import LangChain, Served, Server
from copydesk.bench.engines.ways import WAYS
from copydesk.errors import CopydeskError

BY_NAME = {way.name: way for way in WAYS}


def test_our_server_by_plain_http(tiny_model: Path) -> None:
    served = Served(BY_NAME["serve"], str(tiny_model))
    try:
        record = served.answer("address", "天津市河西区珠江道21号").text
        assert list(json.loads(record)) == ["province", "city", "district", "specific_location", "name", "phone"]
        assert served.answer_all("address", ["天津市河西区珠江道21号"] * 2) == [record] * 2
        assert served.answer("news", "天津市").text in ("World", "Sports", "Business", "Sci/Tech")
        assert served.answer("chat", "天津市").first_at > 0
        assert served.server() not in (None, os.getpid())
    finally:
        served.close()


def test_a_server_that_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="ended while loading: copydesk: there is no model"):
        Served(BY_NAME["serve"], str(tmp_path / "none"))


def test_langchain_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(CopydeskError, match="pip install langchain-openai"):
        Served(BY_NAME["serve, LangChain"], str(tiny_model))


class ChatOpenAI:
    """Stands in for LangChain's: says back what it was asked, in two parts."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def stream(self, messages: Sequence[Any], **options: Any) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(content="")
        said = json.dumps({"messages": messages, "settings": self.settings} | options)
        yield SimpleNamespace(content=said[:5])
        yield SimpleNamespace(content=said[5:])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", SimpleNamespace(ChatOpenAI=ChatOpenAI))  # type: ignore[arg-type]


@pytest.mark.usefixtures("installed")
def test_what_transformers_server_is_asked() -> None:
    LangChain.check_installed()
    chat = LangChain(Server("http://127.0.0.1:1", "none", is_ours=False))
    asked = json.loads(chat.ask("address", "天津市").text)
    assert asked["settings"]["base_url"] == "http://127.0.0.1:1/v1"
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert (asked["max_tokens"], asked["extra_body"]) == (128, None)


@pytest.mark.usefixtures("installed")
def test_our_server_gets_the_schema_and_the_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("copydesk.bench.engines.served._model", lambda server: "m")
    chat = LangChain(Server("http://127.0.0.1:1", "sk", is_ours=True))
    address, news, free = (json.loads(chat.ask(job, "天津市").text) for job in ("address", "news", "chat"))
    for asked in (address, news, free):
        assert asked["messages"] == [{"role": "user", "content": "天津市"}]
    assert [asked["max_tokens"] for asked in (address, news, free)] == [None, None, 64]
    schema = address["extra_body"]["response_format"]["json_schema"]["schema"]
    assert "specific_location" in schema["properties"]
    assert news["extra_body"]["structured_outputs"]["choice"][0] == "World"
    assert free["extra_body"]["repetition_penalty"] == 1.0
