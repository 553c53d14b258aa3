"""A server in a process of its own that is asked over HTTP: Transformers' or copydesk's, plainly or by LangChain.

Knows the servers by what they print when they are ready, and by the OpenAI API.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TextIO

from copydesk.bench.engines import asking
from copydesk.bench.engines.answering import Reply
from copydesk.bench.engines.asking import MOST_TOKENS, TASKS, Message
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.ways import Way
from copydesk.errors import CopydeskError
from copydesk.types import Json

_URL = re.compile(r"http://\S+")
_KEY = re.compile(r"API key.*: (\S+)")
_SECONDS = 300.0
"""What an answer may take."""
_SECONDS_TO_END = 20.0


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
        # Not a pipe, which would fill up; closed with the server.
        self._log: TextIO = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            _command(way, model), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, encoding="utf-8"
        )
        try:
            self._client: Client = kind(self._ready(way))
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
        return self._process.pid

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def _ready(self, way: Way) -> Server:
        """Once it says where it is. Errors: `CopydeskError` when it ends instead."""
        is_ours = way.runner == "copydesk server"
        url = ""
        for line in self._process.stdout or ():
            if found := _URL.search(line):
                url = found[0]
            key = _KEY.search(line)
            if url and (key or not is_ours):
                return Server(url, key[1] if key else "none", is_ours)
        code = self._process.wait()
        self._log.seek(0)
        said = self._log.read().strip().splitlines() or [f"exit code {code}"]
        raise CopydeskError(f"the server ended while loading: {said[-1]}")


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
        messages, more = _constrained(job, text) if self._is_ours else (asking.short(job, text), None)
        chunks = self._chat.stream(messages, max_tokens=MOST_TOKENS[job], extra_body=more)
        return _gathered(str(chunk.content) for chunk in chunks)


def _constrained(job: Job, text: str) -> tuple[list[Message], Json]:
    """What our server is asked in OpenAI's form: the schema or the labels go with the question."""
    task = TASKS.get(job)
    if task is None:
        return asking.short(job, text), _greedy()
    if task.schema is None:
        return asking.short(job, text), _greedy() | {"structured_outputs": {"choice": list(task.labels)}}
    form = {"type": "json_schema", "json_schema": {"name": task.name, "schema": task.schema.json}}
    # Without a system message, a schema with the built-in task's keys is that task.
    return [{"role": "user", "content": text}], _greedy() | {"response_format": form}


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
