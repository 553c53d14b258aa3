"""Processes that print where they are, or end."""

from __future__ import annotations

import os
import sys

import pytest

from copydesk.bench.server_process import ServerProcess
from copydesk.errors import CopydeskError

WAITS = "import time; time.sleep(60)"


def _command(*lines: str, then: str = WAITS) -> list[str]:
    printed = "; ".join(f"print({line!r}, flush=True)" for line in lines)
    return [sys.executable, "-c", f"{printed or 'pass'}; {then}"]


def test_where_it_is_and_its_key() -> None:
    command = _command("copydesk serves it at http://127.0.0.1:8123", "API key, made for this run: sk-1")
    with ServerProcess(command, has_key=True) as server:
        assert (server.url, server.key) == ("http://127.0.0.1:8123", "sk-1")
        assert server.process != os.getpid()
        os.kill(server.process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process, 0)


def test_without_a_key() -> None:
    with ServerProcess(_command("http://127.0.0.1:8123"), has_key=False) as server:
        assert server.key == "none"


def test_its_environment() -> None:
    command = [sys.executable, "-c", f"import os; print(os.environ['WHERE'], flush=True); {WAITS}"]
    with ServerProcess(command, has_key=False, environment=os.environ | {"WHERE": "http://here:1"}) as server:
        assert server.url == "http://here:1"


@pytest.mark.parametrize(
    ("then", "said"),
    [("import sys; sys.exit('no model')", "no model"), ("import sys; sys.exit(3)", "exit code 3")],
)
def test_one_that_ends(then: str, said: str) -> None:
    with pytest.raises(CopydeskError, match=f"ended while loading: {said}"):
        ServerProcess(_command("loading", then=then), has_key=False)
