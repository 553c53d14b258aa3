"""Transformers as guides use it, with those of their steps that are to be taken.

Where a guide slips, this does not: batches are padded left, answers end at the end tokens of the model's own files.
Knows the library's public calls only.
"""

from __future__ import annotations

import copy
import inspect
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, StoppingCriteriaList

from copydesk.bench.engines import asking
from copydesk.bench.engines.answering import Reply
from copydesk.bench.engines.asking import Message
from copydesk.bench.engines.questions import Job
from copydesk.bench.engines.ways import Step

_LONGEST_TEXT = 512
"""Tokens after which a text is cut."""
_WARM_UP_TOKENS = 4
_SAMPLED = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20}
"""As Qwen3's own files set it for thinking."""


class Guides:
    """`Answering` by Transformers."""

    def __init__(self, folder: str, steps: Sequence[Step], guide_tokens: int, seed: int) -> None:
        """`guide_tokens`: the longest answer until `parameters` fits it to the job. `seed`: of sampling."""
        self._folder = folder
        self._steps = frozenset(steps)
        self._guide_tokens = guide_tokens
        self._loads: list[float] = []
        self._kept: dict[str, tuple[list[int], Any]] = {}
        torch.manual_seed(seed)
        if "environment" in self._steps:
            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        self._loaded = self._load() if "loading" in self._steps else None

    def answer(self, job: Job, text: str) -> Reply:
        first = _First()
        (said,) = self.generate([self._messages(job, text)], self._longest(job), first)
        return Reply(said, first.at)

    def answer_all(self, job: Job, texts: Sequence[str]) -> list[str]:
        return self.generate([self._messages(job, text) for text in texts], self._longest(job))

    def warm_up(self, job: Job, text: str) -> None:
        if self._loaded is not None:
            self.generate([self._messages(job, text)], _WARM_UP_TOKENS)

    def load_seconds(self) -> float:
        return 0.0 if self._loaded is not None else statistics.median(self._loads)

    def server(self) -> int | None:
        return None

    def close(self) -> None:
        self._loaded = None

    def generate(
        self,
        conversations: Sequence[list[Message]],
        longest: int,
        first: _First | None = None,
        streamer: Any = None,
    ) -> list[str]:
        """Answers to conversations, all at once. `streamer` gets the text of a single one as it is written."""
        tokenizer, model = self._loaded or self._load()
        inputs = self._inputs(tokenizer, model, conversations)
        with self._mode():
            tokens = model.generate(
                **inputs,
                **({"do_sample": False} if "parameters" in self._steps else _SAMPLED),
                max_new_tokens=longest,
                stopping_criteria=StoppingCriteriaList([first or _First()]),
                streamer=streamer,
            )
        answers: list[str] = tokenizer.batch_decode(tokens[:, inputs["input_ids"].shape[1] :])
        return answers

    def tokenizer(self) -> Any:
        """The one that is loaded."""
        return (self._loaded or self._load())[0]

    def _load(self) -> tuple[Any, Any]:
        begun = time.perf_counter()
        tokenizer = AutoTokenizer.from_pretrained(self._folder)
        if "loading" in self._steps:
            model = AutoModelForCausalLM.from_pretrained(
                self._folder, dtype="auto", low_cpu_mem_usage=True, use_safetensors=True
            )
        else:
            model = AutoModelForCausalLM.from_pretrained(self._folder, dtype=torch.float32)
        if "batching" in self._steps:
            tokenizer.padding_side = "left"
        self._loads.append(time.perf_counter() - begun)
        return tokenizer, model

    def _messages(self, job: Job, text: str) -> list[Message]:
        if "template" not in self._steps:
            return asking.long(job, text)
        tokenizer = self.tokenizer()
        tokens = tokenizer(text, truncation=True, max_length=_LONGEST_TEXT, add_special_tokens=False)["input_ids"]
        return asking.short(job, tokenizer.decode(tokens) if len(tokens) == _LONGEST_TEXT else text)

    def _longest(self, job: Job) -> int:
        return asking.MOST_TOKENS[job] if "parameters" in self._steps else self._guide_tokens

    def _mode(self) -> AbstractContextManager[Any]:
        return torch.inference_mode() if "memory" in self._steps else nullcontext()

    def _inputs(self, tokenizer: Any, model: Any, conversations: Sequence[list[Message]]) -> dict[str, Any]:
        rows = [self._tokens(tokenizer, messages) for messages in conversations]
        kept: list[int] = []
        cache = None
        if "memory" in self._steps:
            kept, cache = self._shared(tokenizer, model, conversations[0])
            if any(row[: len(kept)] != kept for row in rows):
                kept, cache = [], None
        rests = [row[len(kept) :] for row in rows]
        width = max(map(len, rests))
        pads = [width - len(rest) for rest in rests]
        pad = tokenizer.pad_token_id
        inputs: dict[str, Any] = {
            "input_ids": torch.tensor([kept + [pad] * n + rest for n, rest in zip(pads, rests, strict=True)]),
            "attention_mask": torch.tensor([[1] * len(kept) + [0] * n + [1] * (width - n) for n in pads]),
        }
        if cache is not None:
            cache = copy.deepcopy(cache)
            cache.batch_repeat_interleave(len(rows))
            inputs[_cache_name(model)] = cache
        return inputs

    def _tokens(self, tokenizer: Any, messages: list[Message]) -> list[int]:
        tokens: list[int] = tokenizer.apply_chat_template(
            messages,
            add_generation_prompt=True,
            enable_thinking="parameters" not in self._steps,
            return_dict=True,
        )["input_ids"]
        return tokens

    def _shared(self, tokenizer: Any, model: Any, messages: list[Message]) -> tuple[list[int], Any]:
        """The tokens that all conversations with these messages but the last begin with, and their keys and values."""
        key = "\n".join(message["content"] for message in messages[:-1])
        if key not in self._kept:
            one, other = (
                self._tokens(tokenizer, [*messages[:-1], {"role": "user", "content": text}]) for text in ("a", "文")
            )
            length = next(place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its)
            cache = DynamicCache(config=model.config)
            with self._mode():
                model(torch.tensor([one[:length]]), **{_cache_name(model): cache}, use_cache=True)
            self._kept[key] = one[:length], cache
        return self._kept[key]


class _First:
    """When the first token was there: a criterion of stopping that never stops."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self, tokens: Any, *_: Any, **__: Any) -> Any:
        self.at = self.at or time.perf_counter()
        return torch.zeros(len(tokens), dtype=torch.bool)


def _cache_name(model: Any) -> str:
    """What this version calls keys and values."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
