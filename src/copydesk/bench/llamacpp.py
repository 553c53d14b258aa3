"""llama.cpp answering address lines, with the weights and the prompt that we use: its wheel, and any other build.

Knows nothing of how its figures are compared.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from copydesk.bench.peers import Peer, build_version
from copydesk.bench.work import Done
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Json


class LlamaCpp:
    """The wheel and the build over one GGUF file."""

    WHEEL: ClassVar[str] = "llama.cpp's wheel"
    BUILD: ClassVar[str] = "llama.cpp's build"

    def __init__(self, folder: Path, gguf: Path, build: Path | None, threads: int) -> None:
        """`folder` holds the model that `gguf` was made of; its tokenizer makes the prompts."""
        self.folder = folder
        self._tokenizer = Tokenizer(folder)
        self._prompt = render_prompt(ADDRESS, self._tokenizer)
        self._schema: Json = ADDRESS.schema.json if ADDRESS.schema else {}
        self._peers = {self.WHEEL: Peer(None, gguf, threads)}
        if build is not None:
            self._peers[self.BUILD] = Peer(build, gguf, threads)
        self._speculation: dict[str, Json] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(self._peers)

    def choose(self, texts: Sequence[str]) -> None:
        """Let each peer use its own speculation from now on if it answers `texts` sooner with it than without."""
        for name, peer in self._peers.items():
            ms = {}
            for speculation in (False, True):
                self._peers[name] = replace(peer, speculation=speculation)
                ms[speculation] = statistics.median(self.answer(name, texts, texts[:1]).ms)
            self._peers[name] = replace(peer, speculation=ms[True] < ms[False])
            self._speculation[name] = {"ms_without": ms[False], "ms_with": ms[True], "used": ms[True] < ms[False]}

    def answer(self, name: str, texts: Sequence[str], warm_up: Sequence[str]) -> Done:
        """One text after another, in a server started for them. Passes are the tokens that it says it decoded.

        Errors: `CopydeskError` when the server cannot be started or refuses a request.
        """
        prompts = [self._tokens(text) for text in (*warm_up, *texts)]
        with self._peers[name].start() as server:
            for prompt in prompts[: len(warm_up)]:
                server.complete(prompt, self._schema)
            start = time.perf_counter()
            answers = [server.complete(prompt, self._schema) for prompt in prompts[len(warm_up) :]]
            seconds = time.perf_counter() - start
        return Done(
            values=tuple(_value(answer.text) for answer in answers),
            ms=tuple(answer.ms for answer in answers),
            passes=tuple(answer.tokens for answer in answers),
            seconds=seconds,
        )

    def description(self) -> Json:
        """Which builds there are, and what their speculation came to."""
        found: Json = {}
        for name, peer in self._peers.items():
            what = f"xllamacpp {version('xllamacpp')}" if peer.build is None else build_version(peer.build)
            found[name] = {"version": what, "speculation": self._speculation.get(name)}
        return found

    def _tokens(self, text: str) -> list[int]:
        return [*self._prompt.prefix, *self._tokenizer.encode(text), *self._prompt.suffix]


def _value(text: str) -> Json:
    """The answer; empty if it was cut off."""
    try:
        value: Json = json.loads(text)
    except ValueError:
        return {}
    return value
