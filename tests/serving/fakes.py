"""A server's parts without a model, keys or counters: each records what it was asked, and does what a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx
from starlette.types import ASGIApp

from copydesk.serving.app import build_app
from copydesk.serving.backend import Backend, ChatCall, CompletionCall, Replies
from copydesk.serving.errors import ApiError
from copydesk.serving.events import Finished
from copydesk.serving.gate import Caller
from copydesk.serving.settings import Limits
from copydesk.types import Answer, Delta, Field, Reply, Span, Task, TokenLogprob, Usage

KEY = "sk-right"
USAGE = Usage(prompt_tokens=7, cached_tokens=3, completion_tokens=5)


def answer_of(value: Any, **more: Any) -> Answer[Any]:
    """An answer with this value."""
    given: dict[str, Any] = {
        "value": value,
        "fields": {"city": Field((Span(0, 3),), "exact", 0.9)},
        "confidence": 0.8,
        "verified": True,
        "draft": "rules",
        "accepted": 0.5,
        "passes": 2,
        "model": "fake",
        "engine": "none",
        "usage": USAGE,
        "ms": 1.5,
    }
    return Answer(**(given | more))


class FakeReplies:
    """A reply of given deltas; satisfies `Replies`."""

    def __init__(self, deltas: Sequence[Delta | Exception], pace: float = 0.0, **more: Any) -> None:
        self.cancelled = False
        self.ended = False
        self._deltas = deltas
        self._pace = pace
        self._more = more

    async def __aiter__(self) -> AsyncIterator[Delta]:
        for delta in self._deltas:
            await asyncio.sleep(self._pace)
            if isinstance(delta, Exception):
                raise delta
            yield delta
        self.ended = True

    @property
    def reply(self) -> Reply:
        whole = [delta for delta in self._deltas if isinstance(delta, Delta)]
        reasoning = "".join(delta.reasoning for delta in whole)
        given: dict[str, Any] = {
            "content": "".join(delta.content for delta in whole),
            "reasoning": reasoning or None,
            "finish": "stop",
            "value": None,
            "verified": True,
            "draft": None,
            "accepted": None,
            "passes": 4,
            "model": "fake",
            "engine": "none",
            "usage": USAGE,
            "ms": 2.5,
            "logprobs": tuple(token for delta in whole for token in delta.logprobs),
        }
        return Reply(**(given | self._more))

    def cancel(self) -> None:
        if not self.ended:
            self.cancelled = True


HELLO = (Delta(content="Hel"), Delta(content="lo"))


def hello() -> FakeReplies:
    """`Hello` in two pieces."""
    return FakeReplies(HELLO)


def with_logprobs() -> FakeReplies:
    """Tokens with what was said of them, one of them half a character."""
    tokens = (
        TokenLogprob(b"Hi", -0.1, ((b"Hi", -0.1), (b"Yo", -2.5))),
        TokenLogprob("é".encode()[:1], float("-inf"), ()),
    )
    return FakeReplies([Delta(content="Hi", logprobs=tokens)])


@dataclass
class FakeBackend:
    """Satisfies `Backend`."""

    name: str = "fake"
    replies: Callable[[], FakeReplies] = hello
    answer: Callable[[str], Answer[Any]] = lambda text: answer_of({"city": text})
    wait: float = 0.0
    """Seconds before each answer."""
    calls: list[Any] = field(default_factory=list)
    opened: list[FakeReplies] = field(default_factory=list)
    cancelled: int = 0

    async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        return await self._answered(text, task, options)

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        return await self._answered(text, task, options)

    async def chat(self, call: ChatCall) -> Replies:
        return self._opened(call)

    async def complete(self, call: CompletionCall) -> Replies:
        return self._opened(call)

    async def _answered(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        self.calls.append((text, task, dict(options)))
        try:
            await asyncio.sleep(self.wait)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.answer(text)

    def _opened(self, call: Any) -> FakeReplies:
        self.calls.append(call)
        replies = self.replies()
        self.opened.append(replies)
        return replies


@dataclass
class FakeRouter:
    """Satisfies `Router`."""

    backend: FakeBackend
    asked: list[tuple[str | None, str]] = field(default_factory=list)

    @property
    def names(self) -> Sequence[str]:
        return [self.backend.name, "other/model"]

    def choose(self, model: str | None, caller: str) -> Backend:
        self.asked.append((model, caller))
        return self.backend


class FakeGate:
    """Satisfies `Gate` and `Admission`: one key, and whatever error a test sets."""

    def __init__(self) -> None:
        self.refusal: ApiError | None = None
        self.models: frozenset[str] | None = None
        self.admitted: list[tuple[str, str, int]] = []
        self.inside = 0
        self.spent: list[Usage] = []
        self.headers = {"X-RateLimit-Remaining-Requests": "9"}

    def identify(self, authorization: str | None) -> Caller:
        if authorization != f"Bearer {KEY}":
            raise ApiError(401, "No such key.", code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
        return Caller("tester", self.models)

    async def admit(self, caller: Caller, model: str, tokens: int) -> FakeGate:
        if self.refusal is not None:
            raise self.refusal
        self.admitted.append((caller.name, model, tokens))
        return self

    def used(self, usage: Usage) -> None:
        self.spent.append(usage)

    async def __aenter__(self) -> Self:
        self.inside += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.sleep(0)
        self.inside -= 1


class Recorder:
    """Satisfies `Observer`."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.finished: list[Finished] = []

    def request_started(self, route: str) -> None:
        self.started.append(route)

    def request_finished(self, finished: Finished) -> None:
        self.finished.append(finished)


@dataclass
class Server:
    """An application and its parts."""

    backend: FakeBackend = field(default_factory=FakeBackend)
    limits: Limits = field(default_factory=Limits)
    gate: FakeGate = field(default_factory=FakeGate)
    recorder: Recorder = field(default_factory=Recorder)
    public: Sequence[Any] = ()

    def __post_init__(self) -> None:
        self.router = FakeRouter(self.backend)
        self.app: ASGIApp = build_app(
            limits=self.limits,
            router=self.router,
            gate=self.gate,
            observer=self.recorder,
            public=self.public,
        )

    @asynccontextmanager
    async def client(self, key: str | None = KEY) -> AsyncIterator[httpx.AsyncClient]:
        """A client with a key."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
            yield client

    async def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """One request."""
        async with self.client() as client:
            return await client.post(path, json=body, **options)

    async def chat(self, **body: Any) -> httpx.Response:
        """A chat about nothing in particular."""
        return await self.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]} | body)


def events(response: httpx.Response) -> list[Any]:
    """The events of a stream; its end as text."""
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]
