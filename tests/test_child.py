"""Children do what they are given, print nothing on standard output, and end when they are told or left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from copydesk import child
from copydesk.errors import EngineError, UsageError
from other_process import deaf, echo


def test_it_does_what_it_is_given() -> None:
    mine, theirs = child.pipe()
    started = child.start(echo, "你好", connections=[theirs], one_thread=True)
    assert theirs.closed
    greeting, pid, threads, connections = started.connection.recv()
    assert (greeting, threads, connections) == ("你好", "1", 1)
    assert pid != os.getpid()
    assert mine.recv() == "你好"
    started.connection.send([1, 2])
    assert started.connection.recv() == [1, 2]
    assert started.exit_code is None
    child.end([started])
    assert started.exit_code == 0


def test_the_environment_is_otherwise_this_one() -> None:
    started = child.start(echo, "")
    assert started.connection.recv()[2] == os.environ.get("OMP_NUM_THREADS")
    child.end([started])


def test_an_interrupt_at_the_terminal_is_not_theirs() -> None:
    started = child.start(echo, "")
    pid = started.connection.recv()[1]
    assert os.getpgid(pid) != os.getpgid(0)
    os.kill(pid, signal.SIGINT)
    started.connection.send("still here")
    assert started.connection.recv() == "still here"
    child.end([started])


def test_one_that_does_not_hear_is_killed() -> None:
    children = [child.start(deaf), child.start(deaf)]
    for one in children:
        assert one.connection.recv() == "here"
    since = time.monotonic()
    child.end(children, 0.3)
    assert time.monotonic() - since < 5
    assert [one.exit_code for one in children] == [-9, -9]


def test_what_cannot_be_sent() -> None:
    with pytest.raises(UsageError, match="cannot be sent"):
        child.start(lambda connection, connections: None)


def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    mine, theirs = child.pipe()
    with pytest.raises(EngineError, match="No process"):
        child.start(echo, "", connections=[theirs])
    with pytest.raises(EOFError):
        mine.recv()


def test_a_script_is_not_run_again() -> None:
    """As `multiprocessing` would, which a script without a guard does not survive."""
    script = f"""
    import sys
    sys.path[:] = {sys.path!r}
    print("once", flush=True)
    from copydesk import child
    from other_process import echo
    started = child.start(echo, "hello")
    print(started.connection.recv()[0])
    child.end([started])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("once\nhello\n", "")
