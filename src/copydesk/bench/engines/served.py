"""A server in a process of its own that is asked over HTTP: Transformers' or copydesk's, plainly or by LangChain.

Knows the servers by the OpenAI API.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from copydesk.bench.engines import asking
from copydesk.bench.engines.answering import Reply
from copydesk.bench.engines.asking import MOST_TOKENS, TASKS, Message
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.ways import Way
from copydesk.bench.server_process import ServerProcess
from copydesk.errors import CopydeskError
from copydesk.types import Json

_SECONDS = 300.0
"""What an answer may take."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is."""

    url: str
    key: str
    is_ours: bool


class Client(Protocol):
    """Asks one question. Safe to share between threads."""

    def ask(self, job: Job, text: str) -> Reply: ...


class Served:
    """`Answering` by a server that is started, and ended in the end."""

    def __init__(self, way: Way, model: str) -> None:
        """Errors: `CopydeskError` when it does not start; `ImportError` without LangChain."""
        kind = LangChain if way.langchain else Plain
        kind.check_installed()
        is_ours = way.runner == "copydesk server"
        self._server = ServerProcess(_command(way, model), has_key=is_ours)
        try:
            self._client: Client = kind(Server(self._server.url, self._server.key, is_ours))
        except BaseException:
            self.close()
            raise

    def answer(self, job: Job, text: str) -> Reply:
        return self._client.ask(job, text)

    def answer_all(self, job: Job, texts: Sequence[str]) -> list[str]:
        with ThreadPoolExecutor(len(texts)) as pool:
            return [reply.text for reply in pool.map(lambda text: self._client.ask(job, text), texts)]

    def warm_up(self, job: Job, text: str) -> None:
        self.answer(job, text)

    def load_seconds(self) -> float:
        return 0.0

    def server(self) -> int | None:
        return self._server.process

    def close(self) -> None:
        self._server.close()


class Plain:
    """copydesk's server by plain HTTP: its own routes for extractions and labels, chats streamed."""

    def __init__(self, server: Server) -> None:
        import httpx

        self._http = httpx.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {server.key}"}, timeout=_SECONDS
        )

    @staticmethod
    def check_installed() -> None: ...

    def ask(self, job: Job, text: str) -> Reply:
        if job == "chat":
            return self._chat(text)
        response = self._http.post("/v1/extract" if job == "address" else "/v1/classify", json={"text": text})
        if response.status_code != 200:
            raise CopydeskError(f"the server refused a question: {response.text[:500]}")
        value = response.json()["value"]
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return Reply(said, time.perf_counter())

    def _chat(self, text: str) -> Reply:
        body = {"messages": asking.short("chat", text), "stream": True, "max_tokens": MOST_TOKENS["chat"]}
        with self._http.stream("POST", "/v1/chat/completions", json=body | _greedy()) as response:
            if response.status_code != 200:
                raise CopydeskError(f"the server refused a question: {response.read()[:500].decode()}")
            return _gathered(_contents(response.iter_lines()))


class LangChain:
    """Any server by LangChain's ChatOpenAI, streamed."""

    def __init__(self, server: Server) -> None:
        from langchain_openai import ChatOpenAI

        self._chat = ChatOpenAI(
            base_url=f"{server.url}/v1",
            api_key=server.key,
            model=_model(server),
            temperature=0,
            timeout=_SECONDS,
            max_retries=0,
        )
        self._is_ours = server.is_ours

    @staticmethod
    def check_installed() -> None:
        """Errors: `CopydeskError` that says what to install."""
        try:
            import langchain_openai  # noqa: F401
        except ImportError as error:
            raise CopydeskError(
                "LangChain's ChatOpenAI is not installed: pip install langchain-openai (for this bench only)"
            ) from error

    def ask(self, job: Job, text: str) -> Reply:
        if self._is_ours:
            messages, more = _constrained(job, text)
            longest = None if job in TASKS else MOST_TOKENS[job]
        else:
            messages, more, longest = asking.short(job, text), None, MOST_TOKENS[job]
        chunks = self._chat.stream(messages, max_tokens=longest, extra_body=more)
        return _gathered(str(chunk.content) for chunk in chunks)


def _constrained(job: Job, text: str) -> tuple[list[Message], Json]:
    """What our server is asked in OpenAI's form. With a built-in task's schema or labels, and without a system
    message, a question is that task, whose answers need no limit of length: they end by themselves."""
    task = TASKS.get(job)
    more: Json = {}
    if task is not None and task.schema is not None:
        form = {"type": "json_schema", "json_schema": {"name": task.name, "schema": task.schema.json}}
        more = {"response_format": form}
    elif task is not None:
        more = {"structured_outputs": {"choice": list(task.labels)}}
    return [{"role": "user", "content": text}], _greedy() | more


def _greedy() -> Json:
    """As all others decode from the step `parameters` on."""
    return {"temperature": 0, "repetition_penalty": 1.0, "chat_template_kwargs": {"enable_thinking": False}}


def _contents(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        data = line.removeprefix("data: ")
        if data == line or data == "[DONE]":
            continue
        for choice in json.loads(data)["choices"]:
            yield choice["delta"].get("content") or ""


def _gathered(parts: Iterator[str]) -> Reply:
    """A stream's text, and when its first part was there."""
    said, first_at = [], 0.0
    for part in parts:
        if part:
            first_at = first_at or time.perf_counter()
            said.append(part)
    return Reply("".join(said), first_at or time.perf_counter())


def _command(way: Way, model: str) -> list[str]:
    if way.runner == "transformers server":
        return [sys.executable, "-m", "copydesk.bench.engines.guides_server", model, json.dumps(way.steps)]
    return [sys.executable, "-m", "copydesk", "serve", "--model", model, "--engine", way.engine, "--port", "0"]


def _model(server: Server) -> str:
    """What the server calls its model."""
    if not server.is_ours:
        return "transformers"
    import httpx

    headers = {"Authorization": f"Bearer {server.key}"}
    models = httpx.get(f"{server.url}/v1/models", headers=headers, timeout=_SECONDS).json()
    return str(models["data"][0]["id"])
