"""The ways of answering, a row each: Transformers as guides start, their steps one after the other, ours.

Knows what each is; how it is done is the runners' business.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from copydesk.engines.cores import available_cores

Step = Literal["environment", "loading", "parameters", "template", "batching", "memory"]
"""Of the guides, in the order in which they are taken."""
Runner = Literal["transformers", "transformers server", "copydesk", "copydesk server"]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of answering."""

    name: str
    what: str
    """The same in words."""
    runner: Runner
    steps: tuple[Step, ...] = ()
    """Of the guides, for Transformers."""
    engine: str = ""
    """Of ours."""
    langchain: bool = False
    """Whether a server is asked by LangChain's ChatOpenAI rather than by plain HTTP."""
    at_once: bool = False
    """Whether it takes several questions at once."""
    slow: bool = False
    """Measured less often, with fewer questions: its answers are many times as long."""


_STEPS: tuple[tuple[Step, str], ...] = (
    ("environment", "threads as there are cores, variables for tokenizers and the hub"),
    ("loading", "once a process, in the files' own dtype, mapped safetensors"),
    ("parameters", "thinking off, greedy, no longer than the job needs"),
    ("template", "short system message, the text alone as the user's, cut if too long"),
    ("batching", "several at once, padded left"),
    ("memory", "inference mode, keys and values of the shared prompt kept"),
)
_ALL: tuple[Step, ...] = tuple(step for step, _ in _STEPS)


def _guides() -> list[Way]:
    ways = [
        Way(
            "start",
            "Transformers as guides start: loaded for each call, float32, thinking on, sampled, long prompt",
            "transformers",
            slow=True,
        )
    ]
    for number, (step, what) in enumerate(_STEPS):
        steps = _ALL[: number + 1]
        ways.append(Way(step, f"+ {step}: {what}", "transformers", steps, at_once="batching" in steps, slow=number < 3))
    return ways


WAYS: tuple[Way, ...] = (
    *_guides(),
    Way("direct call", "all of these, called directly, one by one", "transformers", _ALL),
    Way(
        "LangChain",
        "the same behind an OpenAI-compatible server, by LangChain's ChatOpenAI",
        "transformers server",
        _ALL,
        langchain=True,
    ),
    Way("transformers", "**copydesk**, engine transformers", "copydesk", engine="transformers", at_once=True),
    Way("llamacpp", "**copydesk**, engine llamacpp", "copydesk", engine="llamacpp", at_once=True),
    Way("openvino", "**copydesk**, engine openvino (the default)", "copydesk", engine="openvino", at_once=True),
    Way("serve", "**copydesk serve**, by plain HTTP", "copydesk server", engine="openvino", at_once=True),
    Way(
        "serve, LangChain",
        "**copydesk serve**, by LangChain's ChatOpenAI",
        "copydesk server",
        engine="openvino",
        langchain=True,
        at_once=True,
    ),
)
_HUB = {
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def environment(way: Way, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of a way's process: without those that guides set, unless it takes that step. No way has a GPU."""
    kept = {name: value for name, value in inherited.items() if name not in _HUB and name not in _THREADS}
    kept |= {"CUDA_VISIBLE_DEVICES": "", "NO_PROXY": "127.0.0.1"}
    if "environment" not in way.steps:
        return kept
    return kept | _HUB | dict.fromkeys(_THREADS, str(available_cores()))
