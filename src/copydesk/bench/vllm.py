"""vLLM as a peer: a process in its own environment, told what to answer, with and without its own speculation.

Knows what the process says, not how it works.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copydesk.bench import vllm_child
from copydesk.errors import CopydeskError
from copydesk.types import Json

_SPECULATION: Json = {
    "speculative_config": {
        "method": "ngram",
        "num_speculative_tokens": 5,
        "prompt_lookup_min": 2,
        "prompt_lookup_max": 5,
    }
}
PLAIN, NGRAM = "vLLM", "vLLM with n-gram speculation"


@dataclass(frozen=True, slots=True)
class Run:
    """What became of some prompts."""

    each: list[float]
    """Seconds that each took."""
    all: float
    """Seconds from the first to the last."""
    texts: list[str]
    tokens: list[int]


class Vllm:
    """One process. Close it in the end."""

    def __init__(self, name: str, model: Path, python_path: str, options: Json) -> None:
        """`python_path` is what vLLM and its needs are found on; `options` go to `LLM`. Returns at once."""
        self.name = name
        options = options | (_SPECULATION if name == NGRAM else {})
        self._process = subprocess.Popen(
            # -P: this folder's own `vllm` is none of its packages.
            [sys.executable, "-P", vllm_child.__file__, str(model), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": python_path, "VLLM_WORKER_MULTIPROC_METHOD": "spawn"},
            text=True,
            encoding="utf-8",
        )
        self.version = ""
        self.load_seconds = 0.0

    def wait(self) -> None:
        """Until it has loaded. Errors: `CopydeskError`."""
        loaded = self._answer()
        self.version, self.load_seconds = loaded["version"], loaded["seconds"]

    def run(
        self,
        prompts: Sequence[str | list[int]],
        in_flight: int,
        *,
        max_tokens: int,
        schema: Json | None = None,
    ) -> Run:
        """Answer prompts, so many at a time. Errors: `CopydeskError` when the process has ended."""
        request = {
            "prompts": list(prompts),
            "in_flight": in_flight,
            "max_tokens": max_tokens,
            "json": schema,
        }
        stdin = self._process.stdin
        if stdin is None:
            raise CopydeskError("vLLM's process has no input.")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        return Run(**self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        line = stdout.readline() if stdout else ""
        if not line:
            raise CopydeskError(f"{self.name} ended with exit code {self._process.wait()}; its messages are above.")
        answer: dict[str, Any] = json.loads(line)
        return answer
