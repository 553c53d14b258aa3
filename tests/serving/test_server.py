"""The process: its socket and its signals."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from copydesk.errors import CopydeskError, UsageError
from copydesk.serving.server import bound_socket

TESTS = Path(__file__).parent.parent


def test_a_socket_is_bound_and_does_not_listen() -> None:
    bound = bound_socket("127.0.0.1", 0)
    with bound, pytest.raises(ConnectionRefusedError):
        socket.create_connection(bound.getsockname(), timeout=1)


def test_a_port_in_use() -> None:
    with bound_socket("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(CopydeskError, match=f"port {port} of 127.0.0.1 is in use"):
            bound_socket("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no such host", "300.1.1.1", "x" * 100])
def test_no_address(host: str) -> None:
    with pytest.raises(UsageError, match="no such address"):
        bound_socket(host, 0)


def test_an_address_that_is_not_ours() -> None:
    with pytest.raises(CopydeskError, match="cannot be listened on"):
        bound_socket("192.0.2.1", 0)


SERVER = """
import asyncio, sys
from contextlib import asynccontextmanager
sys.path.insert(0, {tests!r})
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from copydesk.serving.drain import Drain
from copydesk.serving.server import bound_socket, run
from copydesk.serving.settings import Limits
from serving.fakes import Server

drain = Drain()

async def slow(request):
    await asyncio.sleep(float(request.query_params["seconds"]))
    return PlainTextResponse("done")

async def ready(request):
    return PlainTextResponse("draining" if drain.draining else "ready")

@asynccontextmanager
async def application():
    print(listener.getsockname()[1], flush=True)
    yield Server(public=[Route("/health/slow", slow), Route("/health/ready", ready)]).app
    print("left", flush=True)

listener = bound_socket("127.0.0.1", 0)
print(run(application, Limits({limits}), listener, drain), flush=True)
"""


class Process:
    """A server without a model."""

    def __init__(self, limits: str) -> None:
        code = SERVER.format(tests=str(TESTS), limits=limits)
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        for _ in range(100):
            try:
                httpx.get(f"{self.url}/health/ready")
                break
            except httpx.ConnectError:
                time.sleep(0.02)

    def end(self) -> list[str]:
        """What it printed after its port."""
        printed, _ = self.process.communicate(timeout=20)
        assert self.process.returncode == 0
        return str(printed).split()


def asking(url: str, seconds: float) -> socket.socket:
    """A request on its way."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(f"GET /health/slow?seconds={seconds} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    time.sleep(0.2)
    return connection


def read(connection: socket.socket) -> str:
    connection.settimeout(20)
    answer = b""
    while part := connection.recv(10_000):
        answer += part
    return answer.decode()


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def test_answers_in_progress_finish() -> None:
    process = Process("drain_seconds=10")
    connection = asking(process.url, 1.0)
    process.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{process.url}/health/ready")
    assert "200 OK" in read(connection)
    assert process.end() == ["left", str(int(signal.SIGTERM))]


def test_but_not_for_ever() -> None:
    process = Process("drain_seconds=1")
    connection = asking(process.url, 30)
    started = time.monotonic()
    process.process.send_signal(signal.SIGINT)
    answer = read(connection)
    assert "503" in answer
    assert '"code":"stopping"' in answer
    assert process.end() == ["left", str(int(signal.SIGINT))]
    assert time.monotonic() - started < 10


def test_told_twice_it_ends_at_once() -> None:
    process = Process("drain_seconds=60")
    asking(process.url, 30)
    process.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    process.process.send_signal(signal.SIGTERM)
    assert process.end()[0] == "left"


def test_it_lingers_where_readiness_already_says_no() -> None:
    process = Process("linger_seconds=1, drain_seconds=5")
    assert httpx.get(f"{process.url}/health/ready").text == "ready"
    process.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert httpx.get(f"{process.url}/health/ready").text == "draining"
    assert process.end() == ["left", str(int(signal.SIGTERM))]
