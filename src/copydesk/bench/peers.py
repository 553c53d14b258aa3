"""llama.cpp as a peer: its server in a process of its own on loopback, from the wheel or any build, asked over HTTP.

It decodes with its own JSON-schema grammar and its own prompt cache, with its own speculation on or off. Knows nothing
of how we answer.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from copydesk.errors import CopydeskError
from copydesk.types import Json

CONTEXT = 4096
"""Tokens that the peer may hold, which is plenty for an address."""
SLOT_CONTEXT = 1024
"""At least, of each sequence where it answers several at once."""
NGRAM, DRAFT = 3, 16
"""Its speculation: what followed the last so many tokens before, and how many tokens of that it reads at most."""
_MORE_THREADS = 3
"""Than connections, for HTTP: those of its default."""
_SECONDS_TO_LOAD = 120
_SECONDS_TO_ANSWER = 300


@dataclass(frozen=True, slots=True)
class Completion:
    """What the peer answered."""

    text: str
    tokens: int
    ms: float
    """As the client saw it."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A build of llama.cpp and how it is run."""

    build: Path | None
    """Its `llama-server`; None for the wheel's."""
    gguf: Path
    threads: int
    speculation: bool = False
    slots: int = 1
    """Sequences at once."""
    connections: int = 1
    """Clients at once: it keeps a thread for each connection."""
    spins: bool = True
    """Whether its threads wait for one another in a loop, as is usual: quicker, unless others need the cores."""

    @property
    def context(self) -> int:
        """Tokens that it may hold, all sequences together."""
        return max(CONTEXT, SLOT_CONTEXT * self.slots)

    def start(self) -> Running:
        """Start its server and wait until it answers. Errors: `CopydeskError`."""
        return Running(self)

    def command(self, port: int) -> list[str]:
        """The command line of its server."""
        if self.build is None:
            numbers = (port, self.threads, int(self.speculation), self.slots, self.context, self._http_threads)
            return [sys.executable, "-m", "copydesk.bench.wheel_server", str(self.gguf), *map(str, numbers)]
        command = [str(self.build), "--model", str(self.gguf), "--host", "127.0.0.1", "--port", str(port)]
        command += ["--parallel", str(self.slots), "--ctx-size", str(self.context), "--threads", str(self.threads)]
        command += ["--threads-http", str(self._http_threads), "--no-ui"]
        if not self.spins:
            command += ["--poll", "0"]
        if self.speculation:
            command += ["--spec-type", "ngram-simple", "--spec-ngram-simple-size-n", str(NGRAM)]
            command += ["--spec-ngram-simple-size-m", str(DRAFT)]
        return command

    def environment(self) -> dict[str, str]:
        """The variables of its process."""
        return dict(os.environ) if self.spins else os.environ | {"OMP_WAIT_POLICY": "passive"}

    @property
    def _http_threads(self) -> int:
        return self.connections + _MORE_THREADS


class Running:
    """A peer's server; a context manager that ends it."""

    def __init__(self, peer: Peer) -> None:
        self._port = _free_port()
        # Not a pipe, which would fill up; closed with the process.
        self._log: TextIO = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                peer.command(self._port), stdout=self._log, stderr=subprocess.STDOUT, env=peer.environment()
            )
        except OSError as error:
            raise CopydeskError(f"{peer.build} cannot be started: {error.strerror}") from error
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    @property
    def process(self) -> int:
        """Its process's number."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    def complete(self, prompt: Sequence[int], schema: Json) -> Completion:
        """The most probable answer to a prompt of token ids that satisfies `schema`. Errors: `CopydeskError`."""
        request = {
            "prompt": list(prompt),
            "json_schema": schema,
            "cache_prompt": True,
            "temperature": 0,
            "samplers": ["temperature"],  # no others have anything to do
            "n_predict": 512,
        }
        start = time.perf_counter()
        status, body = self._ask("POST", "/completion", json.dumps(request))
        ms = (time.perf_counter() - start) * 1e3
        if status != 200:
            raise CopydeskError(f"llama.cpp refused a request: {body[:500]}")
        answer: dict[str, Any] = json.loads(body)
        return Completion(answer["content"], answer["tokens_predicted"], ms)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self) -> None:
        end = time.monotonic() + _SECONDS_TO_LOAD
        while time.monotonic() < end:
            if self._process.poll() is not None:
                self._log.seek(0)
                raise CopydeskError(f"llama.cpp ended while loading: {self._log.read()[-1000:]}")
            try:
                if self._ask("GET", "/health")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise CopydeskError(f"llama.cpp was not ready after {_SECONDS_TO_LOAD} s")

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_SECONDS_TO_ANSWER)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


def build_version(build: Path) -> str:
    """What a `llama-server` says of itself and of the processor features it was built for."""
    try:
        said = subprocess.run(
            [str(build), "--version"], capture_output=True, text=True, timeout=60, env=os.environ | {"LC_ALL": "C"}
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CopydeskError(f"{build} cannot be run: {error}") from error
    return " ".join((said.stdout + said.stderr).split())


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
