"""Clients of a server that says back what it was sent."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from copydesk.bench.serving.clients import Load, drive


class Echo(BaseHTTPRequestHandler):
    """Takes a moment, and refuses every body `bad`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    in_progress = most = 0
    lock = threading.Lock()

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        with Echo.lock:
            Echo.in_progress += 1
            Echo.most = max(Echo.most, Echo.in_progress)
        time.sleep(0.005)
        with Echo.lock:
            Echo.in_progress -= 1
        self.send_response(400 if sent == b"bad" else 200)
        answer = sent + self.headers["Authorization"].encode()
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_clients_see(url: str) -> None:
    Echo.most = 0
    told = itertools.count(1.0)
    numbers = map(str, itertools.count())
    window = drive(url, {"Authorization": "!"}, numbers, str.encode, Load(4, 0.2, 0.05), lambda: next(told))
    assert Echo.most == 4
    assert window.seconds >= 0.2
    assert window.server_seconds == 1.0
    assert 0 < window.client_seconds < 10
    assert len(window.replies) >= 4
    assert len({reply.text for reply in window.replies}) == len(window.replies)
    for reply in window.replies:
        assert (reply.status, reply.body) == (200, f"{reply.text}!".encode())
        assert reply.ms >= 5


def test_the_warm_up_waits_for_every_client(url: str) -> None:
    """And what is measured for as many answers, however short both should be."""
    window = drive(url, {"Authorization": "!"}, itertools.repeat("a"), str.encode, Load(8, 0.01, 0.001), lambda: 0.0)
    assert len(window.replies) >= 8


def test_a_refusal_is_a_reply(url: str) -> None:
    window = drive(url, {"Authorization": ""}, itertools.repeat("bad"), str.encode, Load(1, 0.02, 0.0), lambda: 0.0)
    assert {(reply.status, reply.body) for reply in window.replies} == {(400, b"bad")}


def test_a_server_that_is_not_there() -> None:
    window = drive("http://127.0.0.1:1", {}, itertools.repeat("a"), str.encode, Load(2, 0.1, 0.0), lambda: 0.0)
    assert {reply.status for reply in window.replies} == {0}
    assert len(window.replies) < 20


def test_no_more_texts(url: str) -> None:
    """What goes wrong in a client is no endless wait."""
    began = time.monotonic()
    window = drive(url, {"Authorization": ""}, iter(["a"]), str.encode, Load(2, 0.05, 0.0), lambda: 0.0)
    assert len(window.replies) <= 1
    assert time.monotonic() - began < 10
