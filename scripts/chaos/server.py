"""The server under test as a process: started, ordered to break, watched and stopped. Knows nothing of requests."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Self

_LINK = re.compile(r"http://([\d.]+):(\d+)/#key=(\S+)")
_START = 60.0
"""Seconds until it must have printed its address."""


class Server:
    """A context manager."""

    def __init__(self, arguments: Sequence[str], *, seed: int, log: str | None = None) -> None:
        """`log` is where its standard error goes, by default nowhere."""
        self.rss: list[tuple[float, int]] = []
        """Seconds since the start, and bytes in memory, once a second."""
        self._lines: list[str] = []
        self._log: IO[Any] | int = open(log, "w") if log else subprocess.PIPE  # noqa: SIM115
        command = [sys.executable, str(Path(__file__).parent), "--serve", str(seed), *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, bufsize=1
        )
        self.host, self.port, self.key = "", 0, ""

    def __enter__(self) -> Self:
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                threading.Thread(target=self._read, args=(stream,), daemon=True).start()
        until = time.monotonic() + _START
        while time.monotonic() < until and self._process.poll() is None:
            found = _LINK.search("".join(self._lines))
            if found:
                self.host, self.port, self.key = found[1], int(found[2]), found[3]
                threading.Thread(target=self._watch, daemon=True).start()
                return self
            time.sleep(0.05)
        self.__exit__()
        raise RuntimeError("The server did not start:\n" + "".join(self._lines))

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    @property
    def printed(self) -> str:
        """What it has written so far."""
        return "".join(self._lines)

    def order(self, fault: str) -> None:
        """Break as named, or `heal`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{fault}\n")
        self._process.stdin.flush()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.append(line)

    def _watch(self) -> None:
        started = time.monotonic()
        path = Path(f"/proc/{self._process.pid}/statm")
        while self.alive:
            try:
                pages = int(path.read_text().split()[1])
            except (OSError, IndexError):
                return
            self.rss.append((time.monotonic() - started, pages * resource.getpagesize()))
            time.sleep(1)
