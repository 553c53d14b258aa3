"""What ours and vLLM are given to do on a GPU: the same texts, the same prompts, the same schema.

Knows nothing of how figures are compared.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copydesk.bench.vllm import Run, Vllm
from copydesk.errors import CopydeskError
from copydesk.model import Model
from copydesk.models.shared import shared_tokenizer
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.prompt import render_prompt
from copydesk.types import Answer, Failure, Json, Task

MOST_TOKENS = 160
"""Of an address: twice what any of them has."""
DECODED = 49
"""Tokens of plain decoding, the first of them the prompt's: no address has fewer."""


class Ours:
    """Our model's side. The last answers are kept."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.answers: list[Answer[Any]] = []

    def latency(self, task: Task, texts: Sequence[str], in_flight: int) -> float:
        """Median milliseconds of an answer."""
        self._answer(task, texts, in_flight)
        return statistics.median(answer.ms for answer in self.answers)

    def rate(self, task: Task, texts: Sequence[str]) -> float:
        """Answers a second, all texts at once."""
        begun = time.perf_counter()
        self._answer(task, texts, None)
        return len(texts) / (time.perf_counter() - begun)

    def decoding(self, texts: Sequence[str]) -> float:
        """Median milliseconds a token after the first: an address's JSON, neither constrained nor drafted."""
        return statistics.median(map(self._decoded, texts))

    @property
    def tokens(self) -> float:
        """Mean tokens that an answer had read."""
        usages = [answer.usage for answer in self.answers]
        return statistics.mean(one.prompt_tokens - one.cached_tokens + one.completion_tokens for one in usages)

    @property
    def passes(self) -> float:
        """Mean passes of an answer."""
        return statistics.mean(answer.passes for answer in self.answers)

    def _answer(self, task: Task, texts: Sequence[str], in_flight: int | None) -> None:
        many = self.model.classify_many if task.labels else self.model.extract_many
        rows: Iterable[Answer[Any] | Failure] = many(texts, task, in_flight=in_flight)
        self.answers = []
        for row in rows:
            if isinstance(row, Failure):
                raise CopydeskError(f"A text could not be answered: {row.message}")
            self.answers.append(row)

    def _decoded(self, text: str) -> float:
        messages = [{"role": "system", "content": ADDRESS.instruction}, {"role": "user", "content": text}]
        first, whole = (
            self.model.chat(
                messages, max_tokens=most, thinking="off", draft=False, temperature=0.0, repetition_penalty=1.0
            )
            for most in (1, DECODED)
        )
        return (whole.ms - first.ms) / max(1, whole.usage.completion_tokens - 1)


@dataclass(frozen=True, slots=True)
class Theirs:
    """vLLM's side, over a model folder."""

    folder: Path

    def run(self, peer: Vllm, task: Task, texts: Sequence[str], in_flight: int) -> Run:
        """As ours is asked: an address by token ids and held to the schema, news from text, whose first token settles
        the label."""
        if task.schema is None:
            tokenizer = shared_tokenizer(self.folder)
            before, after = (tokenizer.decode(part) for part in self._around(task))
            return peer.run([before + text + after for text in texts], in_flight, max_tokens=1)
        return peer.run(self._prompts(task, texts), in_flight, max_tokens=MOST_TOKENS, schema=task.schema.json)

    def latency(self, peer: Vllm, task: Task, texts: Sequence[str], in_flight: int) -> float:
        """Median milliseconds of an answer."""
        return 1e3 * statistics.median(self.run(peer, task, texts, in_flight).each)

    def rate(self, peer: Vllm, task: Task, texts: Sequence[str]) -> float:
        """Answers a second, all texts at once."""
        return len(texts) / self.run(peer, task, texts, len(texts)).all

    def decoding(self, peer: Vllm, texts: Sequence[str]) -> float:
        """Median milliseconds a token after the first."""
        prompts = self._prompts(ADDRESS, texts)
        whole, first = (peer.run(prompts, 1, max_tokens=most) for most in (DECODED, 1))
        return statistics.median(
            1e3 * (all_of_it - alone) / max(1, count - 1)
            for all_of_it, alone, count in zip(whole.each, first.each, whole.tokens, strict=True)
        )

    def different(self, peer: Vllm, texts: Sequence[str], answers: Sequence[Answer[Any]]) -> int:
        """How many addresses it has otherwise than `answers`."""
        found = self.run(peer, ADDRESS, texts, len(texts)).texts
        return sum(_parsed(text) != answer.value for text, answer in zip(found, answers, strict=True))

    def _prompts(self, task: Task, texts: Sequence[str]) -> list[list[int]]:
        before, after = self._around(task)
        tokenizer = shared_tokenizer(self.folder)
        return [[*before, *tokenizer.encode(text), *after] for text in texts]

    def _around(self, task: Task) -> tuple[list[int], list[int]]:
        prompt = render_prompt(task, shared_tokenizer(self.folder))
        return list(prompt.prefix), list(prompt.suffix)


def _parsed(text: str) -> Json | None:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    return value
