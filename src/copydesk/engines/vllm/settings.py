"""How vLLM is set up for one model: sensible for small models and short texts, each setting open to the caller.

Knows nothing of requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from pathlib import Path
from types import MappingProxyType
from typing import Any

from copydesk.errors import ModelError, UsageError
from copydesk.models.config import read_json
from copydesk.models.weights import weight_files

LONGEST = 8192
"""Tokens of prompt and answer together where the caller sets none and the model allows more: what is not reserved for
one long text holds many short ones."""
_CACHE = 4 << 30
_OVERHEAD = 1.3
"""Bytes for cache, graphs and activations beside the weights, and what weights take more in memory than on disk."""
_LEAST_SHARE, _MOST_SHARE = 0.2, 0.9
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that vLLM can be set up for."""


def settings(
    folder: Path,
    known: Set[str],
    memory: Callable[[], int | None],
    *,
    dtype: str | None = None,
    context_length: int | None = None,
    memory_share: float | None = None,
    adapter: Path | None = None,
    engine_args: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The arguments of vLLM's engine over the model in `folder`, of those that it has (`known`).

    `memory` gives the bytes of the device's memory; how weights are quantised (AWQ, GPTQ, fp8) vLLM reads in the
    folder itself. `engine_args` go before what is found here. Errors: `ModelError` for the folder or the adapter's,
    `UsageError` for a senseless option.
    """
    own = _longest(folder)
    length = context_length or min(LONGEST, own or LONGEST)
    if own is not None and length > own:
        raise UsageError(f"context_length is at most {own} for this model, not {length}")
    share = memory_share if memory_share is not None else _share(folder, memory())
    wanted: dict[str, Any] = {
        "model": str(folder),
        "dtype": dtype or "auto",
        "max_model_len": length,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "trust_remote_code": False,
    }
    if share is not None:
        wanted["gpu_memory_utilization"] = share
    if adapter is not None:
        wanted |= {"enable_lora": True, "max_lora_rank": _rank(adapter)}
    unknown = sorted(set(engine_args) - known)
    if unknown:
        raise UsageError(f"vLLM's engine has no argument {', '.join(unknown)} in the version that is installed")
    return {name: value for name, value in wanted.items() if name in known} | dict(engine_args)


def _longest(folder: Path) -> int | None:
    """The tokens that the model itself was made for, if it says so."""
    config = read_json(folder / "config.json")
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        if isinstance(length := part.get("max_position_embeddings"), int):
            return length
    return None


def _share(folder: Path, memory: int | None) -> float | None:
    """The share of the device's memory for weights and cache; None leaves it to vLLM, which takes nearly all."""
    if not memory:
        return None
    weights = sum(file.stat().st_size for file in weight_files(folder))
    return round(min(_MOST_SHARE, max(_LEAST_SHARE, (_OVERHEAD * weights + _CACHE) / memory)), 3)


def _rank(adapter: Path) -> int:
    """The smallest rank that vLLM can be set up for and that the adapter fits in."""
    if not (adapter / "adapter_config.json").is_file():
        raise ModelError(f"{adapter} holds no adapter: it has no adapter_config.json", code="model_invalid")
    rank = read_json(adapter / "adapter_config.json").get("r")
    fitting = [allowed for allowed in _RANKS if isinstance(rank, int) and allowed >= rank]
    if not fitting:
        raise ModelError(f"{adapter} has rank {rank!r}; vLLM takes ranks up to {_RANKS[-1]}", code="model_unsupported")
    return fitting[0]
