"""The two servers: ours as anybody starts it, and llama.cpp's over the same model as a GGUF file.

Knows how they are started and which work they are given, nothing of measuring.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from copydesk.bench.peers import Peer, build_version
from copydesk.bench.server_process import ServerProcess
from copydesk.bench.serving.jobs import Kind
from copydesk.bench.serving.modes import Mode

_ROUTE = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers."""

    kind: Kind
    url: str
    """Where chat completions are asked for."""
    headers: Mapping[str, str]
    process: int

    def processor_seconds(self) -> float:
        """What its process has taken of all cores until now, as Linux counts it; 0 elsewhere."""
        try:
            fields = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def ours(options: Sequence[str] = ()) -> Iterator[Running]:
    """`copydesk serve` with an empty `COPYDESK_HOME` on a free port, with the key that it prints.

    Errors: `CopydeskError` when it does not start.
    """
    command = [sys.executable, "-m", "copydesk", "serve", "--port", "0", *options]
    with (
        tempfile.TemporaryDirectory(prefix="copydesk-bench-") as home,
        ServerProcess(command, has_key=True, environment=os.environ | {"COPYDESK_HOME": home}) as server,
    ):
        headers = {"Authorization": f"Bearer {server.key}"}
        yield Running("copydesk", server.url + _ROUTE, headers, server.process)


@dataclass(frozen=True, slots=True)
class LlamaCpp:
    """A build of llama.cpp over one file."""

    gguf: Path
    build: Path | None
    """Its `llama-server`; None for the wheel's."""

    @contextmanager
    def start(self, mode: Mode, connections: int) -> Iterator[Running]:
        """Its server, for so many clients. Errors: `CopydeskError`."""
        peer = Peer(self.build, self.gguf, mode.threads, mode.speculation, mode.slots, connections, mode.spins)
        with peer.start() as server:
            yield Running("llama.cpp", server.url + _ROUTE, {}, server.process)

    @property
    def version(self) -> str:
        """Which it is. Errors: `CopydeskError` for a build that cannot be run."""
        return f"xllamacpp {version('xllamacpp')}" if self.build is None else build_version(self.build)
