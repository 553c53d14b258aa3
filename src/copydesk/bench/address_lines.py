"""Address lines to measure with: gold lines, and the texts of some. Knows nothing of answers."""

from __future__ import annotations

import random
from pathlib import Path

from copydesk.bench.gold import Gold, read_gold
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS

_DEVELOPMENT = ("aliyun_sample", "messy_dev")
_OTHER = "waybill_dev"


def gold(data: Path) -> list[Gold]:
    """The development lines, in their order. Errors: `UsageError`."""
    return [line for name in _DEVELOPMENT for line in _read(_folder(data) / f"{name}.jsonl")]


def development(data: Path) -> tuple[str, ...]:
    """The texts of the development lines, on which drafts are judged. Errors: `UsageError`."""
    return tuple(line.text for line in gold(data))


def warm_up(data: Path, count: int) -> tuple[str, ...]:
    """Lines that are not among the development lines. Errors: `UsageError`."""
    return tuple(_texts(_folder(data) / f"{_OTHER}.jsonl")[:count])


def many(data: Path, count: int, seed: int) -> tuple[str, ...]:
    """Distinct lines of all files, shuffled; repeated only if there are too few. Errors: `UsageError`."""
    texts = distinct(data)
    random.Random(seed).shuffle(texts)
    return tuple((texts * (count // len(texts) + 1))[:count])


def distinct(data: Path) -> list[str]:
    """The texts of all files. Errors: `UsageError`."""
    files = sorted(_folder(data).glob("*.jsonl"))
    return list(dict.fromkeys(text for file in files for text in _texts(file)))


def _folder(data: Path) -> Path:
    folder = data / "address"
    if not any(folder.glob("*.jsonl")):
        raise UsageError(f"{folder} holds no .jsonl files of address lines; give the folder that holds address/.")
    return folder


def _texts(file: Path) -> list[str]:
    return [line.text for line in _read(file)]


def _read(file: Path) -> list[Gold]:
    return read_gold(str(file), ADDRESS)
