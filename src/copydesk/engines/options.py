"""What loading a model may be told beside which model and engine, and which engines take which of it.

A value's kind is checked here, its sense by the engine. Knows no engine's workings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, TypedDict

from copydesk.errors import UsageError

BITS = (4, 8, 16)
"""How many bits a weight may be compressed to; 16 leaves it as it is."""
DTYPES = ("auto", "float32", "bfloat16", "float16")
"""What weights may be computed with."""


class EngineOptions(TypedDict, total=False):
    """Options of `load`. Left out, or None, each is left to the engine; one that the engine has not is refused."""

    bits: Literal[4, 8, 16] | None
    """Bits a weight is compressed to while loading; by default 8 for large models."""
    exact: bool | None
    """Every sum in fp32; by default where it is cheap."""
    context_length: int | None
    """The most tokens of prompt and answer together; by default the model's own limit."""
    threads: int | None
    """By default the physical cores that this process may use."""
    dtype: str | None
    """`auto`, `float32`, `bfloat16` or `float16`."""
    device: str | None
    """`auto` (the default), `cpu`, `cuda` or `cuda:N`."""
    device_map: str | Mapping[str, int | str] | None
    """Where parts of the model lie: `auto`, `layers-on-gpu=N`, or each module's device (also as JSON)."""
    offload_folder: str | PathLike[str] | None
    """Where weights go that fit on no device."""
    max_memory: Mapping[int | str, int | str] | None
    """At most so much on each device, as `{"cpu": "200MB", 0: "4GB"}`; the rest is offloaded."""
    cache_bytes: int | None
    """Memory that the KV cache takes; by default a part of what the GPU has free, for Transformers on a CPU 2 GiB."""
    memory_share: float | None
    """Share of the GPU's memory that vLLM takes; by default what weights and a cache of 4 GiB need."""
    adapter: str | PathLike[str] | None
    """The folder of a LoRA adapter, for vLLM."""
    engine_args: Mapping[str, Any] | None
    """Further arguments of vLLM's engine, by its own names."""
    api_key: str | None
    """A server's key; by default what `COPYDESK_API_KEY` holds."""
    concurrency: int | None
    """Requests that a server is sent at once; by default 16."""
    timeout: float | None
    """Seconds that a server may take for one answer; by default 300."""
    attempts: int | None
    """How often a server is asked for one answer at most, while it is busy or away; by default 6."""


REMOTE = "http://HOST:PORT"
"""Stands for every address of a server among the engines' names."""
TAKEN = {
    "openvino": frozenset({"bits", "exact", "context_length", "threads"}),
    "cuda": frozenset({"context_length", "dtype", "device", "cache_bytes"}),
    "llamacpp": frozenset({"context_length", "threads"}),
    "transformers": frozenset(
        {"context_length", "threads", "dtype", "device", "device_map", "offload_folder", "max_memory", "cache_bytes"}
    ),
    "vllm": frozenset({"context_length", "dtype", "memory_share", "adapter", "engine_args"}),
    REMOTE: frozenset({"api_key", "concurrency", "timeout", "attempts"}),
}
"""The options of each engine."""
NAMES = tuple(TAKEN)
"""The engines that there are, beside `auto`."""


def given_options(engine: str, options: EngineOptions) -> dict[str, Any]:
    """The options that have a value. Errors: `UsageError` for a senseless one, or one that `engine` has not."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in TAKEN[engine]:
            those = [other for other, taken in TAKEN.items() if name in taken]
            raise UsageError(
                f"the {engine} engine has no option {name}; leave it out"
                + (f", or choose {' or '.join(those)}" if those else "")
            )
    if "bits" in given and given["bits"] not in BITS:
        raise UsageError(f"bits is {', '.join(map(str, BITS))} or None, not {given['bits']!r}")
    share = given.get("memory_share", 0.5)
    if not isinstance(share, int | float) or not 0 < share <= 1:
        raise UsageError(f"memory_share is a number above 0 and at most 1 or None, not {share!r}")
    timeout = given.get("timeout", 1)
    if not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise UsageError(f"timeout is a number of seconds above 0 or None, not {timeout!r}")
    for name in ("context_length", "threads", "concurrency", "cache_bytes", "attempts"):
        if name in given and (type(given[name]) is not int or given[name] < 1):
            raise UsageError(f"{name} is a whole number from 1 up or None, not {given[name]!r}")
    return given
