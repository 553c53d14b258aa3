"""A server as a process that prints where it is once it listens: started, waited for, ended.

Knows of servers only what they print: a URL and, for ours, a key.
"""

from __future__ import annotations

import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, TextIO
from urllib.parse import urlsplit

from copydesk.errors import CopydeskError

_URL = re.compile(r"http://\S+")
_KEY = re.compile(r"API key.*: (\S+)")
_SECONDS_TO_END = 20.0


class ServerProcess:
    """A running server; a context manager that ends it."""

    def __init__(self, command: Sequence[str], *, has_key: bool, environment: Mapping[str, str] | None = None) -> None:
        """Start `command` and wait until it says its URL and, if it has one, its key, and listens there.

        Errors: `CopydeskError` with the last thing that it said when it ends instead.
        """
        self.url = ""
        self.key = "none"
        # Not a pipe, which would fill up; closed with the server.
        self._log: TextIO = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
            env=environment,
        )
        try:
            self._wait(has_key)
        except BaseException:
            self.close()
            raise

    @property
    def process(self) -> int:
        """Its number."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self, has_key: bool) -> None:
        for line in self._process.stdout or ():
            if found := _URL.search(line):
                self.url = found[0]
            if key := _KEY.search(line):
                self.key = key[1]
            if self.url and (key or not has_key) and self._listens():
                return
        code = self._process.wait()
        self._log.seek(0)
        said = self._log.read().strip().splitlines() or [f"exit code {code}"]
        raise CopydeskError(f"the server ended while loading: {said[-1]}")

    def _listens(self) -> bool:
        """Whether it is listened on: some say where they are just before. False if it ends instead."""
        address = urlsplit(self.url)
        while self._process.poll() is None:
            try:
                socket.create_connection((address.hostname or "", address.port or 80), timeout=1.0).close()
            except OSError:
                time.sleep(0.01)
            else:
                return True
        return False
