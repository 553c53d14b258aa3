"""The engine for NVIDIA GPUs: whole drafts verified in one forward, at the limit of the card. Needs PyTorch and Triton.

`load` finds out what the card can do and how much of its memory is free. Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from copydesk.engines.cuda.device import why_not
from copydesk.errors import EngineError, UsageError

if TYPE_CHECKING:
    from copydesk.engines.cuda.engine import CudaEngine

_TOLERANCES = {"float32": 1e-3, "bfloat16": 0.05}
_SHARE = 0.6
"""Of the memory that is free after the weights: what the KV cache takes at most; the rest is for activations."""
_MOST_BYTES = 24 * 2**30
"""The KV cache takes no more by default: 200,000 tokens of Qwen3-0.6B."""
_TOKENS_AT_ONCE = 32768
_PREPARED = 256
"""Forwards of one sequence up to so many tokens are recorded while loading."""


def load(
    folder: Path,
    *,
    dtype: str = "bfloat16",
    device: str = "cuda",
    context_length: int | None = None,
    cache_bytes: int | None = None,
    record: bool = True,
) -> CudaEngine:
    """The engine over the model in `folder` (`config.json` and safetensors).

    `dtype`: `bfloat16` or `float32`. `device`: `cuda` (also called `auto`), `cuda:1`, ..., `all` for this one on the
    first GPU and its like on all others (`further`), or `cpu` for the plain PyTorch twin of the kernels, for tests.
    `context_length`: the most tokens a sequence may hold, by default the model's own limit. `cache_bytes`: of the KV
    cache, by default 60 % of the free memory, at most 24 GiB. `record=False` launches every kernel by itself: slower,
    for debugging.
    Errors: `EngineError` without a usable GPU or with too little memory, `ModelError` for the folder, `UsageError`.
    """
    if dtype not in _TOLERANCES:
        raise UsageError(f"dtype is {' or '.join(_TOLERANCES)} with the cuda engine, not {dtype!r}")
    on_gpu = device != "cpu"
    on_all, device = device == "all", {"all": "cuda:0", "auto": "cuda"}.get(device, device)
    if on_gpu and (reason := why_not()) is not None:
        raise EngineError(f"the cuda engine cannot run here: {reason}", code="engine_unavailable")

    import torch

    from copydesk.engines.blocks import BLOCK_SIZE
    from copydesk.engines.cuda import reference
    from copydesk.engines.cuda.cache import Cache, bytes_per_block
    from copydesk.engines.cuda.engine import CudaEngine
    from copydesk.engines.cuda.runner import Runner
    from copydesk.engines.cuda.shapes import Heads
    from copydesk.engines.cuda.weights import load_network
    from copydesk.engines.tensors import Tensors
    from copydesk.models.config import ModelConfig
    from copydesk.models.weights import Weights

    config = ModelConfig.read(folder)
    heads = Heads.of(config)
    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"device is cuda, cuda:N or all with the cuda engine, not {device!r}") from error
    if place.type not in ("cuda", "cpu"):
        raise UsageError(f"device is cuda, cuda:N or all with the cuda engine, not {device!r}")
    operations = reference
    if on_gpu:
        from copydesk.engines.cuda import kernels as operations  # type: ignore[no-redef]
    number = getattr(torch, dtype)
    context = min(context_length or config.max_position_embeddings, config.max_position_embeddings)
    try:
        if on_gpu:
            place = torch.device("cuda", place.index or 0)
            if place.index >= torch.cuda.device_count():
                raise UsageError(f"there is no device {device}; this process sees {torch.cuda.device_count()} GPUs")
            torch.cuda.set_device(place)
        network = load_network(Tensors(Weights(folder), config), config, place, number, context)
        block = bytes_per_block(config.num_hidden_layers, heads, number)
        if cache_bytes is None:
            free = torch.cuda.mem_get_info(place)[0] if on_gpu else 2**28
            cache_bytes = min(int(_SHARE * free), _MOST_BYTES)
        blocks = max(2, cache_bytes // block)
        cache = Cache(config.num_hidden_layers, heads, blocks, place, number)
        runner = Runner(network, cache, operations, blocks=-(-context // BLOCK_SIZE), record=record and on_gpu)
        runner.prepare(_PREPARED)
    except torch.OutOfMemoryError as error:
        raise EngineError(
            f"the GPU has too little free memory for {config.name}; free some, or take a smaller model",
            code="engine_failed",
        ) from error
    return CudaEngine(
        config.name,
        runner,
        cache,
        vocab_size=config.vocab_size,
        context_length=min(context, (blocks - 1) * BLOCK_SIZE),
        tolerance=_TOLERANCES[dtype],
        tokens_at_once=_TOKENS_AT_ONCE,
        further=further(torch.cuda.device_count(), folder, dtype, context, cache_bytes, record) if on_all else (),
    )


def further(
    count: int, folder: Path, dtype: str, context_length: int, cache_bytes: int, record: bool
) -> tuple[Callable[[], CudaEngine], ...]:
    """What loads the same engine on each of `count` GPUs but the first, in processes of their own."""
    return tuple(
        partial(
            load,
            folder,
            dtype=dtype,
            device=f"cuda:{index}",
            context_length=context_length,
            cache_bytes=cache_bytes,
            record=record,
        )
        for index in range(1, count)
    )
