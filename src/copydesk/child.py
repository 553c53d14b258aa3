"""Processes of our own beside this one: Python functions with pipes to whoever started them.

Not `multiprocessing`'s: that runs the caller's script again in each child, so that a script without
`if __name__ == "__main__"` starts children without end. A child ends when its parent does, however that came about:
its pipes are closed then. Knows nothing of what children are for.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from copydesk.errors import EngineError, UsageError

_SECONDS = 5.0
"""What a child may take to end once it was told to."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
) | {"TOKENIZERS_PARALLELISM": "false"}
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from copydesk.child import main; main()"


def pipe() -> tuple[Connection, Connection]:
    """The two ends of a new pipe in both directions."""
    one, other = socket.socketpair()
    return Connection(one.detach()), Connection(other.detach())


class Child:
    """A running child."""

    def __init__(self, process: subprocess.Popen[bytes], connection: Connection) -> None:
        self.connection = connection
        """This end of the pipe whose other end is the function's first argument. Closing it tells the child to end."""
        self._process = process

    @property
    def exit_code(self) -> int | None:
        """As `subprocess` has it; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> None:
        """Until it has ended; after so many seconds it is killed."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def end(children: Sequence[Child], seconds: float = _SECONDS) -> None:
    """Tell all of them to end and wait until they have; those that do not within so many seconds are killed."""
    for child in children:
        child.connection.close()
    until = time.monotonic() + seconds
    for child in children:
        child.wait(max(0.0, until - time.monotonic()))


def start(
    function: Callable[..., None],
    *arguments: Any,
    connections: Sequence[Connection] = (),
    one_thread: bool = False,
) -> Child:
    """Call `function(connection, connections, *arguments)` in a new process; `connection` is the pipe to this one.

    The function is found in the child by its module and name, and the arguments are pickled. `connections` are handed
    over: they are closed here. `one_thread` keeps numeric libraries there from starting threads of their own.
    Errors: `UsageError` for what cannot be pickled, `EngineError` where no process can be started.
    """
    try:
        work = pickle.dumps((function, arguments))
    except Exception as error:
        raise UsageError(f"What another process is to do cannot be sent there: {error}.") from error
    if os.name != "posix" or not sys.executable:
        raise EngineError(
            "Processes of our own need Linux or macOS, and Python's own program.", code="engine_unavailable"
        )
    own, others = pipe()
    handed = [others.fileno(), *(connection.fileno() for connection in connections)]
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path), json.dumps(handed)],
            stdin=subprocess.DEVNULL,
            stdout=_errors(),  # standard output is the answers'
            env=os.environ | (_ONE_THREAD if one_thread else {}),
            pass_fds=handed,
            process_group=0,  # an interrupt at the terminal is this process's to handle
        )
    except OSError as error:
        own.close()
        raise EngineError(f"No process can be started: {error}.", code="engine_unavailable") from error
    finally:
        for connection in (others, *connections):
            connection.close()
    with suppress(BrokenPipeError):  # it is already gone; who reads from it will see that
        own.send_bytes(work)
    return Child(process, own)


def main() -> None:
    """What a child runs: the function that its parent sent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handed: list[Connection] = [Connection(number) for number in json.loads(sys.argv[2])]
    connection, *connections = handed
    try:
        work = connection.recv_bytes()
    except EOFError:  # the parent is gone
        return
    function, arguments = pickle.loads(work)
    function(connection, connections, *arguments)


def _errors() -> int:
    """A file descriptor for what a child prints."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
