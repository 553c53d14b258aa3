"""Loading a model for the engine: checks first, then the libraries, then weights, which a process holds only once."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from copydesk.engines.transformers.installed import check_installed, prepare
from copydesk.engines.transformers.placement import place
from copydesk.engines.transformers.sharing import Shared
from copydesk.errors import EngineError
from copydesk.models.weights import weight_files

if TYPE_CHECKING:
    from copydesk.engines.transformers.engine import TransformersEngine
    from copydesk.engines.transformers.loading import Loaded

_loaded: Shared[Loaded] = Shared()


def load(
    folder: Path,
    *,
    dtype: str = "auto",
    device: str | None = None,
    device_map: str | Mapping[str, int | str] | None = None,
    offload_folder: str | PathLike[str] | None = None,
    max_memory: Mapping[int | str, int | str] | None = None,
    context_length: int | None = None,
    threads: int | None = None,
    cache_bytes: int | None = None,
) -> TransformersEngine:
    """The engine over the model in `folder`. Engines of equal options share the weights; the last to close frees them.

    `dtype`: `auto` is float32 for small models (below 100 million weights), else the files' own. `device`,
    `device_map`, `offload_folder`, `max_memory`: see `placement.place`; by default all on the first card, without one
    on the CPU.
    `context_length`: the most tokens a sequence may hold, by default the model's own limit. `threads`: the process's,
    by default the physical cores that it may use. `cache_bytes`: bound of the KV cache, by default 2 GiB on a CPU, and
    on cards half of what the weights leave.
    Errors: `UsageError` for senseless options, `EngineError` (`missing_extra`, `engine_unavailable`) for the libraries,
    `ModelError` for the folder.
    """
    check_installed()
    try:
        prepare(threads)
        import torch

        from copydesk.engines.transformers.engine import TransformersEngine
        from copydesk.engines.transformers.loading import open_model
    except Exception as error:  # versions that do not fit each other fail in every way
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise EngineError(
            f"Transformers is installed but cannot be imported ({reason}): pip install -U 'copydesk[transformers]'"
        ) from error
    placement = place(
        device=device,
        device_map=device_map,
        offload_folder=offload_folder,
        max_memory=max_memory,
        cards=torch.cuda.device_count(),
    )
    files = [*weight_files(folder), folder / "config.json"]
    seen = tuple((str(file.resolve()), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    key = (str(folder), seen, dtype, placement)
    loaded = _loaded.borrow(key, lambda: open_model(folder, dtype, placement))
    return TransformersEngine(loaded, lambda: _loaded.give_back(key), context_length, cache_bytes)
