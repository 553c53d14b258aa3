"""Where a model's weights go: one device, or a map of them with limits and a folder for the rest.

Decides what the options ask for, and refuses what makes no sense, before anything is loaded. Imports no PyTorch and
knows nothing of models.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from copydesk.errors import UsageError
from copydesk.home import why_not_writable

_ON_GPU = re.compile(r"layers-on-gpu=(.*)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGT]?)(i?)B", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placement:
    """Exactly one of `device`, `modules`, `layers_on_gpu` and `automatic` says where weights go."""

    device: str | None = None
    """`cpu` or `cuda:N`: all of them there."""
    modules: tuple[tuple[str, int | str], ...] = ()
    """`(module, card or cpu or disk)`."""
    layers_on_gpu: int | None = None
    """So many layers, and what is no layer, on the first card; the other layers in the computer's memory."""
    automatic: bool = False
    """Cards first, then memory, then the offload folder."""
    max_memory: tuple[tuple[int | str, int], ...] = ()
    """`(card or cpu, bytes)`: at most so much of the weights there."""
    offload_folder: Path | None = None


def place(
    *,
    device: str | None,
    device_map: str | Mapping[str, int | str] | None,
    offload_folder: str | PathLike[str] | None,
    max_memory: Mapping[int | str, int | str] | None,
    cards: int,
) -> Placement:
    """What the options mean on a machine with so many `cards`. A limit or a folder without a map means `auto`.

    Errors: `UsageError` for devices that there are not, senseless maps and sizes, a device beside a map, or an offload
    folder that cannot be written.
    """
    folder = None if offload_folder is None else _writable(Path(offload_folder))
    limits = _limits(max_memory, cards)
    if device_map is None and not limits and folder is None:
        return Placement(device=_device("auto" if device is None else device, cards))
    if device not in (None, "auto"):
        raise UsageError(
            f"give device ({device}), or device_map, max_memory and offload_folder, which place parts of the model on "
            "several devices; not both"
        )
    if device_map in (None, "auto"):
        return Placement(automatic=True, max_memory=limits, offload_folder=folder)
    if limits:
        raise UsageError("max_memory limits what device_map='auto' chooses; leave it out, or the map")
    if isinstance(device_map, str) and device_map.lstrip().startswith("{"):
        device_map = _parsed(device_map)
    if isinstance(device_map, Mapping):
        return Placement(modules=_modules(device_map, cards), offload_folder=folder)
    if isinstance(device_map, str) and (written := _ON_GPU.fullmatch(device_map)):
        return Placement(layers_on_gpu=_layers(written[1], cards), offload_folder=folder)
    raise UsageError(
        f"device_map {device_map!r} says nothing: give auto, layers-on-gpu=N, or an object from module to device such "
        'as {"model.embed_tokens": 0, "model.layers": "cpu", ...}'
    )


def _device(device: Any, cards: int) -> str:
    if device == "auto":
        return "cuda:0" if cards else "cpu"
    if device == "cpu":
        return "cpu"
    if not isinstance(device, str) or not re.fullmatch(r"cuda(:\d+)?", device):
        raise UsageError(f"there is no device {device!r}; choose auto, cpu, cuda or cuda:N")
    number = int(device.partition(":")[2] or 0)
    _check_card(number, device, cards)
    return f"cuda:{number}"


def _check_card(number: int, written: object, cards: int) -> None:
    if number < cards:
        return
    if cards == 0:
        raise UsageError(
            f"{written} asks for a CUDA device, but PyTorch finds none on this machine; choose cpu, or install a CUDA "
            "build of PyTorch and a driver"
        )
    raise UsageError(f"{written} asks for a CUDA device that is not there: this machine has cuda:0 to cuda:{cards - 1}")


def _layers(written: str, cards: int) -> int:
    if not written.isascii() or not written.isdigit():
        raise UsageError(f"layers-on-gpu={written}: N is a whole number from 0 up")
    _check_card(0, f"layers-on-gpu={written}", cards)
    return int(written)


def _parsed(written: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"device_map is no JSON: {error}") from error
    return dict(parsed)


def _modules(device_map: Mapping[Any, Any], cards: int) -> tuple[tuple[str, int | str], ...]:
    if not device_map:
        raise UsageError('device_map is empty; {"": "cpu"} puts all of the model in one place')
    modules = []
    for module, device in device_map.items():
        if not isinstance(module, str):
            raise UsageError(f"device_map names modules, such as model.layers.0; {module!r} is none")
        if device in ("cpu", "disk"):
            place: int | str = device
        elif type(device) is int and device >= 0:
            _check_card(device, f"device_map's {module!r}", cards)
            place = device
        elif isinstance(device, str) and re.fullmatch(r"cuda(:\d+)?", device):
            place = int(_device(device, cards).removeprefix("cuda:"))
        else:
            raise UsageError(f"device_map puts {module!r} on {device!r}; choose cpu, disk, cuda:N or a card's number")
        modules.append((module, place))
    return tuple(modules)


def _limits(max_memory: Any, cards: int) -> tuple[tuple[int | str, int], ...]:
    if max_memory is None:
        return ()
    if not isinstance(max_memory, Mapping):
        raise UsageError(f'max_memory is an object such as {{"cpu": "200MB", 0: "4GB"}}, not {max_memory!r}')
    limits: list[tuple[int | str, int]] = []
    for device, size in max_memory.items():
        if device == "cpu":
            limits.append(("cpu", _bytes(size)))
            continue
        if not re.fullmatch(r"(cuda:)?\d+", str(device)):
            raise UsageError(f"max_memory limits cpu and cards by their numbers; {device!r} is neither")
        number = int(str(device).removeprefix("cuda:"))
        _check_card(number, f"max_memory's {device!r}", cards)
        limits.append((number, _bytes(size)))
    return tuple(limits)


def _bytes(size: Any) -> int:
    if type(size) is int and size >= 0:
        return size
    if isinstance(size, str) and (parts := _SIZE.fullmatch(size.strip())):
        number, unit, binary = parts.groups()
        return int(float(number) * (1024 if binary else 1000) ** " KMGT".index(unit.upper() or " "))
    raise UsageError(f"max_memory's {size!r} is no size; write 200MB, 1.5GiB, or a number of bytes")


def _writable(folder: Path) -> Path:
    folder = folder.expanduser()
    reason = why_not_writable(folder)
    if reason is None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError as error:
            reason = error.strerror or str(error)
    raise UsageError(f"the offload folder {folder} cannot be written: {reason}; give another")
