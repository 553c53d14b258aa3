"""What the server costs above the engine: round trips to a server whose back end answers at once, and to the real one.

The server runs in a process of its own; the client is a plain socket, so that nearly all time measured is the server's.
Prints one JSON object: P50 and P95 of each kind of request in milliseconds, and the server's processor time for one,
which other programs on the machine do not disturb. With `--model` it also measures the built-in model: what a client
waits minus what the answer says the engine took.

    python scripts/server_overhead.py [--requests 2000] [--model]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

TEXT = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
NEWS = "The striker scored twice as the home team won the cup final on Saturday, in minute"
"""What the model is sure of: an answer that it hardly believes is held until canaries say that it is sound."""
FIELDS = ("province", "city", "district", "specific_location", "name", "phone")
SCHEMA = {"type": "object", "properties": {field: {"type": "string"} for field in FIELDS}, "required": list(FIELDS)}
CHAT = {
    "model": "copydesk-nano",
    "messages": [{"role": "user", "content": TEXT}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "recipient", "schema": SCHEMA}},
}
KINDS: Mapping[str, tuple[str, Any]] = {
    "extract": ("/v1/extract", {"text": TEXT}),
    "classify": ("/v1/classify", {"text": TEXT}),
    "chat": ("/v1/chat/completions", CHAT),
    "chat_stream": ("/v1/chat/completions", CHAT | {"stream": True}),
}


def serve_fake(listener: socket.socket) -> None:
    """The real server, its keys, queues, routing, counters and log, over a model that answers at once."""
    from copydesk.serving import operations
    from copydesk.serving.life import Loaded
    from copydesk.types import Answer, Task
    from serving.fakes import FakeBackend, answer_of

    class Instant(FakeBackend):
        async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
            return answer_of(dict.fromkeys(FIELDS, "x"))

        async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
            return answer_of(task.labels[0], labels={label: 1 / len(task.labels) for label in task.labels})

    operations.load_model = lambda name, *_: Loaded(Instant(name=name), lambda: None)
    serve_model(listener)


def serve_model(listener: socket.socket) -> None:
    """The real server, as `copydesk serve` runs it, but with a key that is known."""
    from copydesk.serving import serve
    from copydesk.serving.config import Config
    from copydesk.serving.keys import Key, hashed
    from serving.fakes import KEY

    sys.stdout = sys.stderr  # what it announces is no figure
    serve.serve_on(listener, Config(keys=(Key(hashed(KEY)),)))


class Client:
    """One kept-alive connection."""

    def __init__(self, address: tuple[str, int], key: str) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self._socket = socket.create_connection(address)
                break
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._key = key

    def post(self, path: str, body: Any) -> tuple[float, bytes]:
        """Milliseconds of one request, and the answer."""
        written = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(written)}\r\n\r\n"
        )
        started = time.perf_counter()
        self._socket.sendall(head.encode() + written)
        answer = b""
        while not _complete(answer):
            answer += self._socket.recv(1 << 16)
        return (time.perf_counter() - started) * 1e3, answer


def _complete(answer: bytes) -> bool:
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    if b"chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return len(body) >= length


def measure(client: Client, kind: str, requests: int, server: int) -> dict[str, float]:
    """P50 and P95 of a kind of request, the first tenth left out, and the processor time of process `server`."""
    path, body = KINDS[kind]
    times = []
    before = _processor_seconds(server)
    for number in range(requests):
        taken, answer = client.post(path, body)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(answer.decode())
        if number >= requests // 10:
            times.append(taken)
    spent = (_processor_seconds(server) - before) * 1e3 / requests
    return _quantiles(times) | {"processor_ms": round(spent, 3)}


def measure_model(client: Client, requests: int) -> dict[str, float]:
    """The same of what a client of the built-in model waits beyond the engine's own time."""
    beyond = []
    for number in range(requests):
        taken, answer = client.post("/v1/classify", {"text": f"{NEWS} {number}."})
        beyond.append(taken - json.loads(answer.partition(b"\r\n\r\n")[2])["ms"])
    return _quantiles(beyond[requests // 10 :])


def _processor_seconds(process: int) -> float:
    """As Linux counts it; 0 elsewhere."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _quantiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {"p50_ms": round(ordered[len(ordered) // 2], 3), "p95_ms": round(ordered[len(ordered) * 95 // 100], 3)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--model", action="store_true", help="also the built-in model")
    arguments = parser.parse_args()
    from copydesk.serving.server import bound_socket
    from serving.fakes import KEY

    figures: dict[str, Any] = {"requests": arguments.requests}
    spawning = multiprocessing.get_context("spawn")
    for name, target in [("fake", serve_fake), *([("model", serve_model)] if arguments.model else [])]:
        listener = bound_socket("127.0.0.1", 0)
        server = spawning.Process(target=target, args=(listener,), daemon=True)
        server.start()
        try:
            client = Client(listener.getsockname(), KEY)
            if name == "fake":
                figures |= {kind: measure(client, kind, arguments.requests, server.pid or 0) for kind in KINDS}
            else:
                figures["beyond_the_engine"] = measure_model(client, arguments.requests // 10)
        finally:
            server.terminate()
            server.join(10)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
