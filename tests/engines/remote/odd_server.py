"""A server of the OpenAI API that does as it is told: well, or wrong in one of the ways that servers go wrong."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from copydesk.types import Json


@dataclass(frozen=True)
class Sent:
    """What the server answers: a body at once, or its pieces one by one. A piece that is None drops the connection."""

    body: Any = ""
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterator[str | None] | None = None


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    body: Json
    headers: Mapping[str, str]


Answer = Callable[[Asked], Sent]


class OddServer:
    """Answers every request with what `answer` gives; a context manager that ends it."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        """Set when a client goes away before it has all of an answer."""
        self._connections: list[socket.socket] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server._connections.append(self.connection)

            def do_GET(self) -> None:
                self.reply({})

            def do_POST(self) -> None:
                self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def reply(self, body: Json) -> None:
                asked = Asked(self.path, body, dict(self.headers))
                server.asked.append(asked)
                sent = answer(asked)
                try:
                    self.send(sent)
                except (BrokenPipeError, ConnectionResetError):
                    server.hung_up.set()
                    self.close_connection = True

            def send(self, sent: Sent) -> None:
                if sent.body is None:
                    self.close_connection = True
                    return
                self.send_response(sent.status)
                self.send_header("Content-Type", sent.kind)
                for name, value in sent.headers.items():
                    self.send_header(name, value)
                if sent.pieces is None:
                    data = sent.body if isinstance(sent.body, str) else json.dumps(sent.body, ensure_ascii=False)
                    self.send_header("Content-Length", str(len(data.encode())))
                    self.end_headers()
                    self.wfile.write(data.encode())
                    return
                self.send_header("Connection", "close")
                self.send_header("Content-Length", "1000000")  # so that an early end is a broken one
                self.end_headers()
                self.close_connection = True
                for piece in sent.pieces:
                    if piece is None:
                        return
                    self.wfile.write(piece.encode())
                    self.wfile.flush()

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def posts(self) -> list[Json]:
        """The bodies that were posted."""
        return [asked.body for asked in self.asked if asked.body]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@dataclass
class FakeModel:
    """Answers as a server with a model would, of the kind `owner`, that keeps to the `ways` of constraining it."""

    owner: str = "vllm"
    ways: tuple[str, ...] = ("response_format", "structured_outputs")
    most_top: int = 20
    thinks: bool = False
    verifies: bool = False
    refuses: tuple[str, ...] = ()
    """Keys of a request that it refuses."""
    text: str = "Hello there."
    """What it says unconstrained."""
    record: Any = None
    """What it answers to a schema that is no choice of words."""
    top: tuple[tuple[str, float], ...] = (("Hello", -0.1), ("Bye", -2.5))
    """What it thinks of its first token."""
    models: tuple[Json, ...] | None = None
    instead: Callable[[Asked], Sent | None] = lambda asked: None
    """What is answered instead, if anything."""

    def __call__(self, asked: Asked) -> Sent:
        """The answer to one request."""
        other = self.instead(asked)
        if other is not None:
            return other
        if asked.path == "/v1/models":
            own = {"id": "fake", "object": "model", "owned_by": self.owner, "max_model_len": 512}
            return Sent({"object": "list", "data": list(self.models or (own,))})
        if asked.path == "/tokenize" and self.verifies:
            return Sent({"tokens": [3, 4, 5], "count": 3})
        if asked.path not in ("/v1/chat/completions", "/v1/completions"):
            return Sent({"detail": "Not Found"}, 404)
        refused = [key for key in self.refuses if key in asked.body]
        if refused:
            return Sent({"error": {"message": f"Unrecognized argument: {refused[0]}"}}, 400)
        if asked.body.get("top_logprobs", 0) > self.most_top > 0:
            return Sent({"error": {"message": "top_logprobs is too large"}}, 400)
        return self.stream(asked) if asked.body.get("stream") else Sent(self.whole(asked))

    def whole(self, asked: Asked) -> Json:
        """A completion."""
        text = self.written(asked.body)
        draft = asked.body["messages"][-1]["content"] if self.verifies and "prompt_logprobs" in asked.body else None
        if draft is not None:
            return self.read(draft, text)
        message: Json = {"role": "assistant", "content": text}
        if self.is_thinking(asked.body):
            message["reasoning_content"] = "Hm."
        choice: Json = {"index": 0, "finish_reason": "stop", "logprobs": self.logprobs(asked.body, text)}
        choice |= {"message": message} if "messages" in asked.body else {"text": text}
        return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}

    def read(self, draft: str, own: str) -> Json:
        """What becomes of a draft, of which a character is a token."""
        places: list[Json | None] = [None, *({str(token): _place(-1.0, "x")} for token in (4, 5))]
        for place, character in enumerate(draft):
            best = own[place : place + 1] or "!"
            if character == best:
                places.append({"9": _place(-0.2, character)})
            else:
                places.append({"9": _place(-2.0, character), "8": _place(-0.1, best)})
        choice = {"finish_reason": "stop" if draft == own else "length", "message": {"content": own[len(draft) :][:1]}}
        return {"choices": [choice], "prompt_logprobs": places, "usage": {"prompt_tokens": len(places)}}

    def stream(self, asked: Asked) -> Sent:
        """A completion, two characters a piece, in server-sent events."""
        text = self.written(asked.body)
        parts = [text[place : place + 2] for place in range(0, len(text), 2)]
        chat = "messages" in asked.body
        events: list[Json] = [{"choices": [{"delta": {"content": part}} if chat else {"text": part}]} for part in parts]
        events.append({"choices": [{"delta": {}, "text": "", "finish_reason": "stop"}]})
        events.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": len(parts)}})
        lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
        return Sent(kind="text/event-stream", pieces=iter([*lines, "data: [DONE]\n\n"]))

    def is_thinking(self, body: Json) -> bool:
        """Whether it thinks before it answers."""
        told = body.get("chat_template_kwargs", {}).get("enable_thinking")
        return self.thinks and told is not False and body.get("reasoning_effort") != "none"

    def logprobs(self, body: Json, text: str) -> Json | None:
        """One token, the whole text."""
        if not self.most_top or "logprobs" not in body or "messages" not in body:
            return None
        top = [_token(word, logprob) for word, logprob in self.top[: body.get("top_logprobs", 0)]]
        return {"content": [_token(text, -0.1) | {"top_logprobs": top}]}

    def written(self, body: Json) -> str:
        """What it writes."""
        schema, words = None, None
        if "response_format" in self.ways and "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
        if "structured_outputs" in self.ways and "structured_outputs" in body:
            given = body["structured_outputs"]
            schema = given.get("json")
            words = given.get("choice") or _words(given.get("regex"))
        if "guided" in self.ways:
            schema = body.get("guided_json", schema)
            words = body.get("guided_choice", words) or _words(body.get("guided_regex"))
        if "regex" in self.ways and "regex" in body:
            words = _words(body["regex"])
        if "grammar" in self.ways and "grammar" in body:
            words = [word.strip('"') for word in body["grammar"].removeprefix("root ::= ").split(" | ")]
        if words:
            return words[-1]
        return self.text if schema is None else json.dumps(self.value(schema), ensure_ascii=False)

    def value(self, schema: Json) -> Any:
        """A value of a schema: the last of some words, or the record."""
        if "enum" in schema:
            return schema["enum"][-1]
        if self.record is None or "word" in schema.get("properties", {}):
            return {name: self.value(part) for name, part in schema.get("properties", {}).items()}
        return self.record


def _words(regex: str | None) -> list[str] | None:
    return None if regex is None else [word.replace("\\", "") for word in regex.strip("()").split("|")]


def _place(logprob: float, text: str) -> Json:
    return {"logprob": logprob, "rank": 1, "decoded_token": text}


def _token(text: str, logprob: float) -> Json:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}
