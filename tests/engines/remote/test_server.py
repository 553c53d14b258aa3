"""A model at a server, asked for whole completions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from copydesk.engines.completions import Answering, Asked, Completion
from copydesk.engines.loop import Loop
from copydesk.engines.remote import load
from copydesk.engines.remote.server import Server
from copydesk.errors import EngineError, UsageError
from copydesk.tasks.task import classification
from copydesk.types import Constraint, Delta, Schema, Usage
from engines.remote.odd_server import FakeModel, OddServer, Sent

MESSAGES = ({"role": "user", "content": "Hello"},)
ENUM = Constraint(schema=Schema({"enum": ["a", "b"]}))


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


def complete(loop: Loop, server: Server, asked: Asked) -> Completion:
    return loop.start(server.complete(asked)).result(10)


def stream(loop: Loop, server: Server, asked: Asked) -> list[Delta | Completion]:
    async def read() -> list[Delta | Completion]:
        return [part async for part in server.stream(asked)]

    return loop.start(read()).result(10)


def test_whole_and_streamed(loop: Loop) -> None:
    with OddServer(FakeModel()) as odd:
        server = load(odd.url, loop)
        assert (server.name, server.model, server.context_length) == (f"{odd.url}/v1", "fake", 512)
        found = complete(loop, server, Asked(MESSAGES, top=2))
        assert (found.text, found.usage) == ("Hello there.", Usage(7, 0, 3))
        assert found.logprobs[0].top == ((b"Hello", -0.1), (b"Bye", -2.5))
        *deltas, last = stream(loop, server, Asked(MESSAGES))
        assert deltas == [Delta(text) for text in ("He", "ll", "o ", "th", "er", "e.")]
        assert last == Completion("Hello there.", "stop", Usage(7, 0, 6))
        loop.start(server.close()).result(10)


def test_constraints(loop: Loop) -> None:
    with OddServer(FakeModel()) as odd:
        server = load(odd.url, loop)
        assert complete(loop, server, Asked(MESSAGES, constraint=ENUM)).text == '"b"'
        assert complete(loop, server, Asked(MESSAGES, constraint=Constraint(choice=("x", "y")))).text == "y"


def test_a_text_is_gone_on_with(loop: Loop) -> None:
    with OddServer(FakeModel()) as odd:
        server = load(odd.url, loop)
        assert complete(loop, server, Asked(prompt="Once")).text == "Hello there."
        assert stream(loop, server, Asked(prompt="Once"))[0] == Delta("He")
        assert odd.asked[-1].path == "/v1/completions"


def test_a_label_out_of_json(loop: Loop) -> None:
    asked = Asked(MESSAGES, constraint=Constraint(choice=("x", "y")), top=0)
    with OddServer(FakeModel("library", ways=("response_format",))) as odd:
        server = load(odd.url, loop)
        found = complete(loop, server, asked)
        assert (found.text, found.logprobs) == ("y", ())
        parts = stream(loop, server, asked)
        assert parts[0] == Delta("y")
        assert isinstance(parts[1], Completion)
        assert parts[1].text == "y"


def test_fewer_probabilities_than_told(loop: Loop) -> None:
    with OddServer(FakeModel()) as odd:
        server = load(odd.url, loop)
        (token,) = complete(loop, server, Asked(MESSAGES, top=0)).logprobs
        assert token.top == ()


def test_a_server_that_ignores_constraints_is_an_error(loop: Loop) -> None:
    with OddServer(FakeModel("openai", ways=())) as odd:
        server = load(odd.url, loop)
        with pytest.raises(EngineError, match="ignores a JSON Schema") as raised:
            complete(loop, server, Asked(MESSAGES, constraint=ENUM))
        assert raised.value.code == "constraint_ignored"


def test_the_key(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYDESK_API_KEY", "from-environment")
    with OddServer(FakeModel()) as odd:
        load(odd.url, loop)
        load(odd.url, loop, api_key="given")
    keys = [asked.headers["Authorization"] for asked in odd.asked]
    assert set(keys) == {"Bearer from-environment", "Bearer given"}


def test_proxies_do_not_stand_before_this_machine(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with OddServer(FakeModel()) as odd:
        assert load(odd.url, loop).model == "fake"


def test_a_draft_is_verified(loop: Loop) -> None:
    with OddServer(FakeModel(verifies=True)) as odd:
        server = load(odd.url, loop)
        assert server.verifies
        found = loop.start(server.verify(Asked(MESSAGES), "Hello there.")).result(10)
        assert (found.kept, found.ended) == ("Hello there.", True)
        found = loop.start(server.verify(Asked(MESSAGES), "Hello you.")).result(10)
        assert (found.kept, found.own, found.ended) == ("Hello ", "t", False)


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://a:b@c"])
def test_no_address(loop: Loop, url: str) -> None:
    with pytest.raises(UsageError):
        load(url, loop)


def test_a_stream_of_a_server_that_stops_counting(loop: Loop) -> None:
    cut: Any = ['data: {"choices": [{"delta": {"content": "He"}}]}\n\n', "data: [DONE]\n\n"]
    model = FakeModel(
        instead=lambda asked: Sent(kind="text/event-stream", pieces=iter(cut)) if asked.body.get("stream") else None
    )
    with OddServer(model) as odd:
        server = load(odd.url, loop)
        with pytest.raises(EngineError, match="broke off in the middle"):
            stream(loop, server, Asked(MESSAGES))


def test_a_busy_server_is_asked_no_more_often_than_told(loop: Loop) -> None:
    busy = threading.Event()
    model = FakeModel()
    with OddServer(lambda asked: Sent("busy", 503) if busy.is_set() else model(asked)) as odd:
        server = load(odd.url, loop, attempts=1)
        busy.set()
        before = len(odd.asked)
        with pytest.raises(EngineError, match="503"):
            complete(loop, server, Asked(MESSAGES))
        assert len(odd.asked) == before + 1
        loop.start(server.close()).result(10)


def test_another_copydesk_answers_tasks_itself(loop: Loop) -> None:
    sent = {
        "value": "yes",
        "labels": {"yes": 0.7, "no": 0.3},
        "label_mass": 0.9,
        "confidence": 0.6,
        "verified": True,
        "draft": None,
        "accepted": None,
        "passes": 1,
        "model": "nano",
        "engine": "openvino",
        "usage": {"prompt_tokens": 5, "cached_tokens": 1, "completion_tokens": 1},
        "ms": 3.0,
    }
    model = FakeModel("copydesk", instead=lambda asked: Sent(sent) if asked.path == "/v1/classify" else None)
    with OddServer(model) as odd:
        server = load(odd.url, loop)
        assert isinstance(server, Answering)
        answer = loop.start(server.answer(classification(["yes", "no"]), "Is it?", {"seed": 1})).result(10)
        assert (answer.value, answer.labels, answer.engine) == ("yes", {"yes": 0.7, "no": 0.3}, server.name)
        assert odd.posts()[-1].items() >= {"text": "Is it?", "labels": ["yes", "no"], "seed": 1}.items()
    with OddServer(FakeModel()) as odd:
        assert not isinstance(load(odd.url, loop), Answering)
