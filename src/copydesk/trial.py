"""A model loaded to see that it works, and what that takes: seconds, the first token, memory at its highest.

Knows no tasks.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from time import perf_counter
from typing import Unpack

from copydesk.engines.choose import is_whole, load_completions, load_engine
from copydesk.engines.completions import Asked
from copydesk.engines.options import EngineOptions
from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.models.resolve import resolve
from copydesk.types import Json

_PROMPT = 64
"""Tokens that an engine reads before its first."""
_TEXT = "The first of all words is"
"""What an engine that is given texts reads before its first token."""


def try_model(model: str | None, engine: str, **options: Unpack[EngineOptions]) -> Json:
    """What loading `model` and its first token took. Memory is that of the whole process, in MB.

    Errors: those of loading and answering, `CopydeskError` all.
    """
    started = perf_counter()
    found: Json = _first_completion(model, engine, options) if is_whole(engine) else _first_pass(model, engine, options)
    loaded_at, read_at = found.pop("loaded_at"), found.pop("read_at")
    took = {"load_s": round(loaded_at - started, 2), "first_token_ms": round(1000 * (read_at - loaded_at), 1)}
    return took | peak_memory() | found


def peak_memory() -> Json:
    """`peak_mb`, the process's resident memory at its highest; with PyTorch on cards `gpu_peak_mb`, theirs."""
    peaks: Json = {}
    with suppress(ImportError):  # Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peaks["peak_mb"] = round(used / (1e6 if sys.platform == "darwin" else 1e3), 1)
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        used = sum(torch.cuda.max_memory_allocated(card) for card in range(torch.cuda.device_count()))
        peaks["gpu_peak_mb"] = round(used / 1e6, 1)
    return peaks


def _first_pass(model: str | None, engine: str, options: EngineOptions) -> Json:
    loaded: Engine = load_engine(engine, resolve(model), **options)
    try:
        loaded_at = perf_counter()
        sequence = loaded.open()
        count = min(_PROMPT, loaded.context_length)
        tokens = tuple(token % loaded.vocab_size for token in range(count))
        loaded.run([Read(sequence, tokens, (Wanted(count - 1),))])
        return {
            "loaded_at": loaded_at,
            "read_at": perf_counter(),
            "context_length": loaded.context_length,
            "notes": list(getattr(loaded, "notes", ())),
        }
    finally:
        loaded.close()


def _first_completion(model: str | None, engine: str, options: EngineOptions) -> Json:
    from copydesk.engines.loop import Loop  # an event loop takes its time, too

    loop = Loop()
    try:
        loaded = load_completions(engine, model, loop, **options)
        loaded_at = perf_counter()
        loop.start(loaded.complete(Asked(({"role": "user", "content": _TEXT},), max_tokens=1))).result()
        read_at = perf_counter()
        loop.start(loaded.close()).result()
    finally:
        loop.close()
    return {
        "loaded_at": loaded_at,
        "read_at": read_at,
        "model": loaded.model,
        "context_length": loaded.context_length,
        "notes": list(loaded.notes),
    }
