"""The calibration that a model's folder holds: under `calibration` in `copydesk.json`, by task and field two numbers.

Knows nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from copydesk.errors import ModelError
from copydesk.models.config import read_json

Lines = dict[str, dict[str, tuple[float, float]]]


def read_calibration(folder: Path) -> Lines:
    """By task and field a slope and an offset; empty for a folder that holds none. Errors: `ModelError`."""
    own = folder / "copydesk.json"
    if not own.is_file():
        return {}
    found = read_json(own).get("calibration", {})
    if not isinstance(found, Mapping) or not all(isinstance(fields, Mapping) for fields in found.values()):
        raise _invalid(own)
    return {task: {name: _line(line, own) for name, line in fields.items()} for task, fields in found.items()}


def _line(line: Any, own: Path) -> tuple[float, float]:
    numbers = line if isinstance(line, list) else []
    if len(numbers) != 2 or not all(type(number) in (int, float) and isfinite(number) for number in numbers):
        raise _invalid(own)
    return float(line[0]), float(line[1])


def _invalid(own: Path) -> ModelError:
    return ModelError(
        f"{own}: calibration holds, by task and field, a slope and an offset; write it with scripts/calibrate.py.",
        code="model_invalid",
    )
