"""vLLM in this process: its asynchronous engine, which batches whatever is asked at once by itself.

Prompts are tokens made here, as for every other engine, so that texts are data and never control tokens. Knows nothing
of tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from copydesk.engines.completions import FREE, Asked, Completion, Verified
from copydesk.engines.loop import Loop
from copydesk.engines.vllm.installed import Vllm, find
from copydesk.engines.vllm.sampling import finish, logprobs, sampling_params, standing, verifying_params
from copydesk.engines.vllm.settings import settings
from copydesk.errors import CopydeskError, EngineError, SchemaError, TextError, UsageError
from copydesk.models.conversation import conversation_tokens
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.shared import shared_tokenizer
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Delta, TokenLogprob, Usage

MOST_TOP = 20
"""Probable tokens that vLLM tells unless it is set up for more."""
_THOUGHT_END = "</think>"


def load(
    folder: Path,
    loop: Loop,
    *,
    dtype: str | None = None,
    context_length: int | None = None,
    memory_share: float | None = None,
    adapter: str | PathLike[str] | None = None,
    engine_args: Mapping[str, Any] | None = None,
) -> VllmEngine:
    """vLLM over the model in `folder`, running in `loop`.

    `dtype` is by default what the folder names; `context_length` in tokens, by default 8,192 or the model's own limit
    if that is less; `memory_share` of the GPU's memory, by default what weights and a cache of 4 GiB need; `adapter`
    is the folder of a LoRA adapter that all requests go through; `engine_args` are further arguments of vLLM's engine,
    by its own names.
    Errors: `EngineError` (`missing_extra`, `engine_unavailable`), `ModelError`, `UsageError`.
    """
    vllm = find()
    if folder == BUILTIN_FOLDER:
        raise UsageError(
            "vLLM does not read the built-in model as it is stored: write it out with "
            "'copydesk export --format hf DIR' and load that folder"
        )
    tokenizer = shared_tokenizer(folder)
    lora = None if adapter is None else Path(adapter)
    given = settings(
        folder,
        vllm.settings,
        device_memory,
        dtype=dtype,
        context_length=context_length,
        memory_share=memory_share,
        adapter=lora,
        engine_args=engine_args or {},
    )

    async def started() -> VllmEngine:
        try:
            running = vllm.engine.from_engine_args(vllm.engine_args(**given))
        except Exception as error:  # whatever vLLM does not like about the machine or the model
            raise EngineError(f"vLLM cannot run {folder}: {_words(error)}") from error
        request = None if lora is None else vllm.lora_request(lora.name or "adapter", 1, str(lora))
        return VllmEngine(vllm, running, tokenizer, folder.name, given["max_model_len"], request)

    return loop.start(started()).result()


def device_memory() -> int | None:
    """Bytes of the memory of the device that vLLM takes; None where it does not say."""
    try:
        from vllm.platforms import current_platform

        return None if current_platform.is_cpu() else int(current_platform.get_device_total_memory())
    except Exception:  # no such device, no driver, a version that asks otherwise: it will find its own share
        return None


class VllmEngine:
    """Satisfies `Completions`."""

    def __init__(
        self, vllm: Vllm, engine: Any, tokenizer: Tokenizer, model: str, context_length: int, lora_request: Any = None
    ) -> None:
        self.name = "vllm"
        self.model = model
        self.context_length: int | None = context_length
        self.most_top = MOST_TOP
        self.notes: tuple[str, ...] = ()
        self.verifies = True
        self._vllm = vllm
        self._engine = engine
        self._tokenizer = tokenizer
        self._lora_request = lora_request
        self._numbers = itertools.count(1)

    async def complete(self, asked: Asked) -> Completion:
        """As `Completions`. With thinking a constraint holds for what follows it."""
        if asked.thinking and asked.constraint != FREE:
            return await self._thought_then_held(asked)
        return await self._whole(asked, self._prompt(asked))

    async def stream(self, asked: Asked) -> AsyncGenerator[Delta | Completion, None]:
        """As `Completions`."""
        if asked.thinking and asked.constraint != FREE:
            found = await self._thought_then_held(asked)
            yield Delta(found.text, found.reasoning or "", found.logprobs)
            yield found
            return
        prompt = self._prompt(asked)
        text, tokens = "", 0
        scored: list[TokenLogprob] = []
        async with aclosing(self._outputs(asked, prompt, stream=True)) as outputs:
            async for output in outputs:
                part = output.outputs[0]
                tokens += len(part.token_ids)
                told = logprobs(self._tokenizer, part.token_ids, part.logprobs, asked.top or 0)
                text += part.text
                scored += told
                if part.text or told:
                    yield Delta(part.text, "", told)
        usage = Usage(len(prompt), output.num_cached_tokens or 0, tokens)
        yield Completion(text, finish(part.finish_reason), usage, None, tuple(scored))

    async def verify(self, asked: Asked, draft: str) -> Verified:
        """As `Completions`."""
        prompt, tokens = self._prompt(asked), self._tokenizer.encode(draft)
        usage = Usage(len(prompt), 0, 0)
        if len(prompt) + len(tokens) >= (self.context_length or 0):
            return Verified("", usage)
        params = verifying_params(self._vllm, self._tokenizer.eos_token_ids)
        async for output in self._generated([*prompt, *tokens], params):
            last = output
        told = last.prompt_logprobs[len(prompt) :]
        count = standing(tokens, told)
        usage = Usage(len(prompt), last.num_cached_tokens or 0, len(tokens))
        scored = logprobs(self._tokenizer, tokens[:count], told, 0)
        if count == len(tokens):
            part = last.outputs[0]
            ended = finish(part.finish_reason) == "stop"
            return Verified(draft, usage, "" if ended else part.text, ended, scored)
        kept = b"".join(map(self._tokenizer.token_bytes, tokens[:count]))
        own = max(told[count].items(), key=lambda one: (one[1].logprob, -one[0]))[0]
        follows = b"" if own in self._tokenizer.control_ids else self._tokenizer.token_bytes(own)
        text, own_text = _characters(kept, follows)
        return Verified(text, usage, own_text, logprobs=scored)

    async def close(self) -> None:
        """As `Completions`."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown()

    async def _thought_then_held(self, asked: Asked) -> Completion:
        """Reasoning first, free, then the rest, held to the constraint."""
        prompt = self._prompt(asked)
        free = replace(asked, constraint=FREE, stop=(_THOUGHT_END,), top=None)
        thought = await self._whole(free, prompt)
        if thought.finish == "length":
            return thought
        prompt = [*prompt, *self._tokenizer.encode_control(f"{thought.text}{_THOUGHT_END}\n\n")]
        left = None if asked.max_tokens is None else max(1, asked.max_tokens - thought.usage.completion_tokens)
        found = await self._whole(replace(asked, max_tokens=left), prompt)
        spent = thought.usage.completion_tokens + found.usage.completion_tokens
        usage = replace(thought.usage, completion_tokens=spent)
        reasoning = thought.text.strip().removeprefix("<think>").strip()
        return replace(found, reasoning=reasoning, usage=usage)

    async def _whole(self, asked: Asked, prompt: list[int]) -> Completion:
        async with aclosing(self._outputs(asked, prompt, stream=False)) as outputs:
            async for output in outputs:
                last = output
        part = last.outputs[0]
        return Completion(
            text=part.text,
            finish=finish(part.finish_reason),
            usage=Usage(len(prompt), last.num_cached_tokens or 0, len(part.token_ids)),
            logprobs=logprobs(self._tokenizer, part.token_ids, part.logprobs, asked.top or 0),
        )

    async def _outputs(self, asked: Asked, prompt: list[int], *, stream: bool) -> AsyncGenerator[Any, None]:
        """vLLM's outputs for one request, which leaving the generator gives up."""
        room = (self.context_length or 0) - len(prompt)
        if room < 1:
            raise TextError(
                f"The prompt is {len(prompt):,} tokens long, and the context {self.context_length:,}; shorten the "
                "text, or have it cut (truncate=True, --truncate).",
                code="too_long",
            )
        asked = replace(asked, max_tokens=min(room, asked.max_tokens or room))
        try:
            params = sampling_params(self._vllm, asked, self._tokenizer.eos_token_ids, stream=stream)
            async with aclosing(self._generated(prompt, params)) as outputs:
                async for output in outputs:
                    yield output
        except ValueError as error:  # what vLLM refuses of a request
            raise self._refusal(asked, error) from error

    async def _generated(self, prompt: list[int], params: Any) -> AsyncGenerator[Any, None]:
        """vLLM's outputs. Errors: `ValueError`, `EngineError`."""
        name = f"copydesk-{next(self._numbers)}"
        running = self._engine.generate({"prompt_token_ids": prompt}, params, name, lora_request=self._lora_request)
        try:
            async with aclosing(running) as outputs:
                async for output in outputs:
                    yield output
        except ValueError:
            raise
        except Exception as error:
            raise EngineError(f"vLLM failed: {_words(error)}; load the model again.", code="engine_failed") from error

    def _refusal(self, asked: Asked, error: ValueError) -> CopydeskError:
        if asked.constraint != FREE:
            return SchemaError(f"vLLM cannot hold to this constraint: {_words(error)}. Simplify it.")
        return EngineError(f"vLLM refuses the request: {_words(error)}.", code="refused")

    def _prompt(self, asked: Asked) -> list[int]:
        if asked.prompt is not None:
            return self._tokenizer.encode(asked.prompt)
        return conversation_tokens(asked.messages, self._tokenizer, thinking=asked.thinking)


def _characters(kept: bytes, own: bytes) -> tuple[str, str]:
    """What stands, in whole characters, and what follows; nothing follows where it is but a part of one."""
    text = kept.decode(errors="ignore")
    try:
        return text, (kept[len(text.encode()) :] + own).decode()
    except UnicodeDecodeError:
        return text, ""


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
