"""A run interrupted and continued: weights, averages, optimiser, how far it was. Written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from copydesk.errors import UsageError

_NAME = "checkpoint.pt"


def save(folder: Path, state: dict[str, Any]) -> None:
    """Replaces the folder's checkpoint; a crash midway leaves the old one."""
    folder.mkdir(parents=True, exist_ok=True)
    hidden = folder / f"{_NAME}.part"
    with hidden.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    hidden.replace(folder / _NAME)


def load(folder: Path, device: torch.device) -> dict[str, Any]:
    """The folder's checkpoint. Errors: `UsageError` when it has none."""
    path = folder / _NAME
    if not path.is_file():
        raise UsageError(f"{folder} has no {_NAME} to resume from.")
    state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    return state
