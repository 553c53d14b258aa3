"""The model inside Qwen3-0.6B's shape, made where it is not there: as a folder, and as a GGUF file.

Knows nothing of what is measured with it.
"""

from __future__ import annotations

from pathlib import Path

from copydesk import output
from copydesk.models.resolve import resolve


def folder(data: Path, made: Path, model: str | None = None, *, seed: int = 0) -> Path:
    """Made in `made`, of `model` (default: the built-in one); `data` holds `qwen3/`. Errors: as `widen`."""
    from copydesk.training.widen import widen

    output.say("putting the model into Qwen3-0.6B's shape")
    widen(resolve(model), data / "qwen3", made / "wide", seed=seed)
    return made / "wide"


def gguf(wide: Path, file: Path) -> Path:
    """`file`, written of the folder `wide` if it is not there yet. Errors: as `write_gguf`."""
    if not file.exists():
        from copydesk.bench.gguf_file import write_gguf

        output.say(f"writing {file}")
        write_gguf(wide, file)
    return file
