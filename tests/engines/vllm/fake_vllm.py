"""vLLM's modules without vLLM: the classes that are used of it, with the fields and checks that its own have."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest


class RequestOutputKind(Enum):
    CUMULATIVE = 0
    DELTA = 1
    FINAL_ONLY = 2


@dataclass
class StructuredOutputsParams:
    json: Any = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False

    def __post_init__(self) -> None:
        given = [self.json, self.regex, self.choice, self.grammar, self.json_object]
        if sum(one is not None for one in given) != 1:
            raise ValueError("You can only use one kind of structured outputs constraint")


class GuidedDecodingParams(StructuredOutputsParams):
    """What it was called before."""


@dataclass
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    max_tokens: int | None = 16
    stop: list[str] | None = None
    stop_token_ids: list[int] | None = None
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    output_kind: RequestOutputKind = RequestOutputKind.CUMULATIVE
    structured_outputs: StructuredOutputsParams | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError("top_p must be in (0, 1]")
        if self.logprobs is not None and self.logprobs > 20:
            raise ValueError("logprobs of more than 20")


@dataclass
class OldSamplingParams(SamplingParams):
    structured_outputs: None = field(default=None, init=False)
    guided_decoding: GuidedDecodingParams | None = None


@dataclass
class AsyncEngineArgs:
    model: str = ""
    dtype: str = "auto"
    max_model_len: int | None = None
    gpu_memory_utilization: float = 0.9
    enable_prefix_caching: bool | None = None
    enable_lora: bool = False
    max_lora_rank: int = 16
    trust_remote_code: bool = False
    disable_log_stats: bool = False
    quantization: str | None = None


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str = ""


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class CompletionOutput:
    text: str
    token_ids: Sequence[int]
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str | None


@dataclass
class RequestOutput:
    outputs: list[CompletionOutput]
    num_cached_tokens: int | None
    finished: bool
    prompt_logprobs: list[dict[int, Logprob] | None] | None = None


@dataclass
class FakeAsyncLLM:
    """Its asynchronous engine: writes what `write` says, as tokens that `encode` gives, the last one an end token."""

    args: AsyncEngineArgs
    write: Callable[[list[int], SamplingParams], str | Exception]
    encode: Callable[[str], list[int]]
    end: int
    asked: list[tuple[list[int], SamplingParams, str, Any]] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    shut_down: int = 0

    async def generate(
        self, prompt: Any, sampling_params: SamplingParams, request_id: str, *, lora_request: Any = None
    ) -> AsyncGenerator[RequestOutput, None]:
        ids = prompt["prompt_token_ids"]
        self.asked.append((ids, sampling_params, request_id, lora_request))
        if sampling_params.prompt_logprobs is not None:
            yield self.read(ids)
            return
        text = self.write(ids, sampling_params)
        if isinstance(text, Exception):
            raise text
        tokens = self.encode(text)
        reason = "stop"
        if sampling_params.max_tokens is not None and len(tokens) >= sampling_params.max_tokens:
            tokens, reason = tokens[: sampling_params.max_tokens], "length"
        else:
            tokens = [*tokens, self.end]
        told = None if sampling_params.logprobs is None else [self.told(token) for token in tokens]
        try:
            if sampling_params.output_kind is RequestOutputKind.FINAL_ONLY:
                yield RequestOutput([CompletionOutput(text, tokens, told, reason)], 2, True)
                return
            for place, token in enumerate(tokens):
                last = place == len(tokens) - 1
                piece = text[place : place + 1] if not last else text[place:]
                one = told and told[place : place + 1]
                yield RequestOutput([CompletionOutput(piece, [token], one, reason if last else None)], 2, last)
        except GeneratorExit:
            self.aborted.append(request_id)
            raise

    def read(self, ids: list[int]) -> RequestOutput:
        """The prompt's tokens as probable as if the model would have written `write` at its end, and nothing else."""
        text = self.write(ids, SamplingParams())
        own = [*self.encode(str(text)), self.end]
        size = len(ids) - next(place for place in range(len(ids) + 1) if not ids[place:] or ids[place] == own[0])
        prompt = len(ids) - size
        places: list[dict[int, Logprob] | None] = [None, *({token: Logprob(-1.0, 1)} for token in ids[1:prompt])]
        wrong = False
        for token, best in zip(ids[prompt:], own, strict=False):
            place = {token: Logprob(-2.0, 2)} if wrong or token != best else {token: Logprob(-0.5, 1)}
            if token != best and not wrong:
                place[best] = Logprob(-0.1, 1)
            wrong |= token != best
            places.append(place)
        ended = not wrong and size == len(own) - 1
        output = CompletionOutput("" if ended else "more", [self.end], None, "stop" if ended else "length")
        return RequestOutput([output], 2, True, places)

    def told(self, token: int) -> dict[int, Logprob]:
        return {token: Logprob(-0.5, 2), token + 1: Logprob(-0.25, 1)}

    def shutdown(self) -> None:
        self.shut_down += 1


class FakeVllm:
    """What is installed; `engines` are those that were started."""

    def __init__(self, encode: Callable[[str], list[int]], end: int) -> None:
        self.engines: list[FakeAsyncLLM] = []
        self.write: Callable[[list[int], SamplingParams], str | Exception] = lambda prompt, params: "Hello"
        self.fails: Exception | None = None
        self._encode, self._end = encode, end

    def from_engine_args(self, args: AsyncEngineArgs) -> FakeAsyncLLM:
        if self.fails:
            raise self.fails
        self.engines.append(FakeAsyncLLM(args, lambda *asked: self.write(*asked), self._encode, self._end))
        return self.engines[-1]

    def install(self, patch: pytest.MonkeyPatch, *, old: bool = False) -> None:
        """Have it be what `import vllm` finds; `old` for one of before structured outputs."""
        engine = type("AsyncLLMEngine", (), {"from_engine_args": staticmethod(self.from_engine_args)})
        parts: dict[str, dict[str, Any]] = {
            "vllm": {"AsyncLLMEngine": engine, "AsyncEngineArgs": AsyncEngineArgs},
            "vllm.sampling_params": {
                "RequestOutputKind": RequestOutputKind,
                "SamplingParams": OldSamplingParams if old else SamplingParams,
                **(
                    {"GuidedDecodingParams": GuidedDecodingParams}
                    if old
                    else {"StructuredOutputsParams": StructuredOutputsParams}
                ),
            },
            "vllm.lora": {},
            "vllm.lora.request": {"LoRARequest": LoRARequest},
        }
        for name, members in parts.items():
            module = ModuleType(name)
            module.__spec__ = ModuleSpec(name, None)
            module.__path__ = []  # type: ignore[attr-defined]
            for member, value in members.items():
                setattr(module, member, value)
            patch.setitem(sys.modules, name, module)
