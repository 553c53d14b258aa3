"""Processes that print where they are, or end."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from copydesk.bench.server_process import ServerProcess
from copydesk.errors import CopydeskError

ENDS = "import sys; sys.exit('no model')"


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def _command(*lines: str, then: str) -> list[str]:
    printed = "; ".join(f"print({line!r}, flush=True)" for line in lines)
    return [sys.executable, "-c", f"{printed}; {then}"]


def _listens(port: int) -> str:
    """After a moment."""
    return f"import socket, time; time.sleep(0.1); s = socket.create_server(('127.0.0.1', {port})); time.sleep(60)"


def test_where_it_is_and_its_key(port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    command = _command(f"copydesk serves it at {url}", "API key, made for this run: sk-1", then=_listens(port))
    with ServerProcess(command, has_key=True) as server:
        assert (server.url, server.key) == (url, "sk-1")
        socket.create_connection(("127.0.0.1", port)).close()
        assert server.process != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(server.process, 0)


def test_its_environment_and_no_key(port: int) -> None:
    command = [sys.executable, "-c", f"import os; print(os.environ['WHERE'], flush=True); {_listens(port)}"]
    environment = os.environ | {"WHERE": f"http://127.0.0.1:{port}"}
    with ServerProcess(command, has_key=False, environment=environment) as server:
        assert (server.url, server.key) == (environment["WHERE"], "none")


@pytest.mark.parametrize(
    ("line", "then", "said"),
    [
        ("loading", ENDS, "no model"),
        ("loading", "import sys; sys.exit(3)", "exit code 3"),
        ("http://127.0.0.1:1", f"import time; time.sleep(0.1); {ENDS}", "no model"),
    ],
)
def test_one_that_ends(line: str, then: str, said: str) -> None:
    with pytest.raises(CopydeskError, match=f"ended while loading: {said}"):
        ServerProcess(_command(line, then=then), has_key=False)
