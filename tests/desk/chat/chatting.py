"""Replies without a model: tokenizers that know reasoning, made-up scores, drafts that a test makes up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.job import ReplyJob
from copydesk.desk.chat.replies import Replies
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.closing import Closing
from copydesk.desk.reply_stream import ReplySender, ReplyStream
from copydesk.desk.scheduler import Scheduler
from copydesk.drafting.controller import Controller, Costs
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Delta, Reply
from fake_engine import FakeEngine, Logits, hashed
from tiny_model import write_tokenizer

CHEAP = Costs.measured({1: 1.0, 64: 1.5})
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
"""As Qwen3's: told not to reason, the prompt holds reasoning that is empty; else the model opens it."""
OPENING = TEMPLATE.replace("{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}", "<think>\n")
"""As DeepSeek-R1's: the prompt opens reasoning, whatever it is told."""
PLAIN = TEMPLATE.replace("{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}", "")
"""Knows nothing of reasoning."""


def write_thinking_tokenizer(folder: Path, template: str = TEMPLATE, *, marks: bool = True) -> Path:
    """Fill `folder` with a small tokenizer; with `marks`, those around reasoning are control tokens."""
    write_tokenizer(folder)
    if marks:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.add_special_tokens(["<think>", "</think>"])
        tokenizer.save(str(folder / "tokenizer.json"))
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"chat_template": template}))
    return folder


def leaning(tokenizer: Tokenizer, favoured: dict[str, float], seed: int = 0, *, sharpness: float = 2.0) -> Logits:
    """A random model that is fond of some texts' tokens, by how much."""
    random = hashed(tokenizer.vocab_size, seed, sharpness=sharpness)
    fondness = np.zeros(tokenizer.vocab_size)
    for text, much in favoured.items():
        fondness[tokenizer.encode_control(text)] += much
    return lambda tokens: random(tokens) + fondness


class Proposing:
    """Takes the place of `Continuations`: `propose` gives the tokens to go on with, from those that stand."""

    def __init__(self, propose: Callable[[list[int]], list[int]]) -> None:
        self.source: str | None = None
        self.others: Callable[[], int] = int
        self.judged: list[tuple[int, int, int]] = []
        self._propose = propose
        self._tokens: list[int] = []

    def note_content(self, begun: bool) -> None:
        pass

    def propose(self, read: int, forced: Sequence[int] = ()) -> list[int]:
        self.source = "lookup"
        return self._propose([*self._tokens, *forced])

    def took(self, tokens: Sequence[int]) -> None:
        self._tokens += tokens

    def judge(self, drafted: int, stood: int, read: int) -> None:
        assert 0 <= stood <= drafted <= read + 1
        self.judged.append((drafted, stood, read))


class Bench:
    """One fake engine and what makes jobs for it."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        logits: Logits,
        *,
        context_length: int = 2048,
        decodes: int = 0,
        controller: Controller | None = None,
        **limits: Any,
    ) -> None:
        self.engine = FakeEngine(tokenizer.vocab_size, logits, context_length=context_length, decodes=decodes)
        canonical = Canonical(tokenizer)
        closing = Closing(canonical, tokenizer.eos_token_ids[0], tokenizer.vocab_size)
        self.replies = Replies(self.engine, tokenizer, canonical, closing, controller)
        self.scheduler = Scheduler(self.engine, **limits)

    def job(
        self, request: ChatRequest, propose: Callable[[list[int]], list[int]] | None = None
    ) -> tuple[ReplyJob, ReplyStream]:
        sender = ReplySender()
        job = self.replies.job(request, sender)
        if propose:
            job.drafts = Proposing(propose)  # type: ignore[assignment]
        return job, ReplyStream(sender)

    def all(
        self, requests: Sequence[ChatRequest], propose: Callable[[list[int]], list[int]] | None = None
    ) -> list[tuple[Reply | Exception, list[Delta]]]:
        """The replies to requests that come at once, or why there is none, and what was handed out of each."""
        jobs = [self.job(request, propose) for request in requests]
        for job, _ in jobs:
            self.scheduler.add(job)
        while not self.scheduler.idle:
            self.scheduler.step()
        return [read(stream) for _, stream in jobs]

    def one(
        self, request: ChatRequest, propose: Callable[[list[int]], list[int]] | None = None
    ) -> tuple[Reply | Exception, list[Delta]]:
        return self.all([request], propose)[0]


def read(stream: ReplyStream) -> tuple[Reply | Exception, list[Delta]]:
    """All of a stream that has come to an end."""
    deltas: list[Delta] = []
    try:
        deltas.extend(stream)
        return stream.reply, deltas
    except Exception as error:
        return error, deltas


def said(reply: Reply | Exception) -> Any:
    """What a reply is, without how it came about."""
    if isinstance(reply, Exception):
        return type(reply), str(reply)
    return reply.content, reply.reasoning, reply.finish, reply.value, rounded(reply), reply.usage.completion_tokens


def rounded(reply: Reply) -> Any:
    """Log-probabilities as far as they are certain."""
    return [
        (one.text, round(one.logprob, 3), [(text, round(logprob, 3)) for text, logprob in one.top])
        for one in reply.logprobs
    ]
