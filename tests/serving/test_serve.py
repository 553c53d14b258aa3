"""`copydesk serve` as a process with the built-in model, and openai-python as its client."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

import copydesk
from copydesk.errors import EngineError, TextError

TEXT = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
NEWS = "The striker scored twice as the home team won the cup final on Saturday."


class Recipient(BaseModel):
    province: str
    city: str
    district: str
    specific_location: str
    name: str
    phone: str


EXPECTED = Recipient(
    province="湖南省",
    city="长沙市",
    district="岳麓区",
    specific_location="桃花岭路189号润丰园B座1202室",
    name="江雨桐",
    phone="021-17613435",
)
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "r", "schema": Recipient.model_json_schema()}}


@dataclass
class Running:
    """A server that listens, and what it has printed."""

    process: subprocess.Popen[str]
    printed: str
    url: str
    key: str

    def client(self) -> OpenAI:
        return OpenAI(base_url=f"{self.url}/v1", api_key=self.key, max_retries=0, timeout=60)


def start(home: Path, *arguments: str) -> Running:
    """Start a server and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "copydesk", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | {"COPYDESK_HOME": str(home), "PYTHONUTF8": "1"},
    )
    assert process.stdout is not None
    printed = ""
    while "print(completion" not in printed:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(process.communicate()[1])
        printed += line
    key = re.search(r"\bsk-[\w-]{30,}", printed)
    url = re.search(r"http://[\d.]+:\d+", printed)
    assert key is not None
    assert url is not None
    running = Running(process, printed, url[0], key[0])
    for _ in range(100):
        try:
            httpx.get(f"{running.url}/")
            break
        except httpx.ConnectError:
            time.sleep(0.05)
    return running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for the tests that do not stop it."""
    running = start(tmp_path_factory.mktemp("server-home"))
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.fixture
def client(server: Running) -> OpenAI:
    return server.client()


def messages(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_what_it_prints_can_be_pasted(server: Running) -> None:
    command = re.search(r"^curl (.|\n)*?\n\n", server.printed, re.MULTILINE)
    assert command is not None
    assert server.key in command[0]
    python = server.printed.partition("# Python\n")[2]
    done = subprocess.run(
        [sys.executable, "-c", python], capture_output=True, text=True, encoding="utf-8", env=utf8(), check=False
    )
    assert Recipient.model_validate_json(done.stdout) == EXPECTED, done.stderr


def test_another_copydesk_as_an_engine(server: Running) -> None:
    with copydesk.load(engine=server.url, api_key=server.key) as model:
        answer = model.extract(TEXT, Recipient)
        assert answer.value == EXPECTED
        assert (answer.draft, answer.engine) == ("rules", f"{server.url}/v1")
        assert 1 <= answer.passes < 5
        label = model.classify(NEWS)
        assert (label.value, label.passes) == ("Sports", 1)
        assert sum(label.labels.values()) == pytest.approx(1.0)
        stream = model.chat_stream(NEWS, max_tokens=4)
        assert "".join(delta.content for delta in stream) == stream.reply.content
        with pytest.raises(TextError, match="tokens long"):
            model.classify("word " * 20_000)
    with pytest.raises(EngineError, match="refuses the key"):
        copydesk.load(engine=server.url, api_key="sk-wrong")


def test_a_built_in_task_by_chat(client: OpenAI) -> None:
    reply = client.chat.completions.create(model="copydesk-nano", messages=messages(TEXT), response_format=FORMAT)
    assert Recipient.model_validate_json(reply.choices[0].message.content or "") == EXPECTED
    assert reply.usage is not None
    assert reply.usage.completion_tokens > 10


def test_parse_with_pydantic(client: OpenAI) -> None:
    reply = client.chat.completions.parse(model="copydesk-nano", messages=messages(TEXT), response_format=Recipient)
    assert reply.choices[0].message.parsed == EXPECTED


def test_streams(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="copydesk-nano",
        messages=messages(TEXT),
        response_format=FORMAT,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert Recipient.model_validate_json(text) == EXPECTED
    assert chunks[-1].usage is not None
    with client.chat.completions.stream(
        model="copydesk-nano", messages=messages(TEXT), response_format=Recipient
    ) as events:
        final = events.get_final_completion()
    assert final.choices[0].message.parsed == EXPECTED


def test_a_forced_function(client: OpenAI) -> None:
    reply = client.chat.completions.create(
        model="copydesk-nano",
        messages=messages(TEXT),
        tools=[openai.pydantic_function_tool(Recipient, name="save")],
        tool_choice={"type": "function", "function": {"name": "save"}},
    )
    calls = reply.choices[0].message.tool_calls
    assert calls is not None
    assert calls[0].type == "function"
    assert Recipient.model_validate_json(calls[0].function.arguments) == EXPECTED


def test_chat_and_completion(client: OpenAI) -> None:
    reply = client.chat.completions.create(
        model="copydesk-nano", messages=messages("Hello"), max_tokens=5, logprobs=True, top_logprobs=2, n=2
    )
    assert len(reply.choices) == 2
    assert reply.choices[0].logprobs is not None
    stream = client.chat.completions.create(
        model="copydesk-nano", messages=messages("Hello"), max_tokens=5, stream=True
    )
    assert [chunk.choices[0].finish_reason for chunk in stream][-1] in ("stop", "length")
    completion = client.completions.create(model="copydesk-nano", prompt=["Hello", "Bye"], max_tokens=3, logprobs=1)
    assert len(completion.choices) == 2


def test_constraints(client: OpenAI) -> None:
    def content(**extra: Any) -> str:
        reply = client.chat.completions.create(
            model="copydesk-nano", messages=messages(NEWS), max_tokens=200, extra_body=extra
        )
        return reply.choices[0].message.content or ""

    assert content(guided_choice=["World", "Sports", "Business", "Sci/Tech"]) == "Sports"
    assert re.fullmatch("[0-9]{3}-[a-f]", content(structured_outputs={"regex": "[0-9]{3}-[a-f]"}))
    assert content(structured_outputs={"choice": ["yes", "no"]}) in ("yes", "no")
    assert content(response_format={"type": "json_object"}).startswith("{")


def test_a_schema_that_cannot_be_honoured(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(
            model="copydesk-nano", messages=messages("x"), extra_body={"guided_json": {"contains": {}}}
        )
    assert caught.value.code == "unsupported_schema"
    assert "contains" in caught.value.message


def test_decisions(client: OpenAI) -> None:
    decision = client.decisions.create(
        model="copydesk-nano",
        input=NEWS,
        questions=[
            {"type": "predicate", "instructions": "Is it about sports?"},
            {"type": "choice", "instructions": "Which?", "choices": [{"value": "a"}, {"value": True}]},
            {"type": "score", "instructions": "How sad?", "levels": [{"label": "low"}, {"label": "high"}]},
        ],
    )
    assert [answer.type for answer in decision.answers] == ["predicate", "choice", "score"]


def test_errors_are_openai_s(server: Running, client: OpenAI) -> None:
    with pytest.raises(openai.AuthenticationError):
        OpenAI(base_url=f"{server.url}/v1", api_key="sk-wrong").models.list()
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="gpt-9", messages=messages("x"))
    assert [model.id for model in client.models.list()] == ["copydesk-nano"]


def test_a_port_in_use_is_one_clear_line(server: Running, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "copydesk", "serve", "--port", port],
        capture_output=True,
        text=True,
        env=os.environ | {"COPYDESK_HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_stops_when_told_once_answers_are_out(told: int, code: int, tmp_path: Path) -> None:
    running = start(tmp_path)
    answers: list[int] = []

    def ask() -> None:
        body = {"texts": [f"{TEXT} {number}" for number in range(20)]}
        headers = {"Authorization": f"Bearer {running.key}"}
        answers.append(httpx.post(f"{running.url}/v1/extract", json=body, headers=headers, timeout=60).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    running.process.send_signal(told)
    _, log = running.process.communicate(timeout=60)
    asking.join()
    assert running.process.returncode == code
    assert answers == [200]
    assert running.key not in log
    assert "桃花岭" not in log
    assert "Traceback" not in log


def utf8() -> dict[str, str]:
    return os.environ | {"PYTHONUTF8": "1"}
