"""Address lines to measure with: the texts of gold lines. Whether answers to them are right is `eval`'s business."""

from __future__ import annotations

import random
from pathlib import Path

from copydesk.bench.gold import read_gold
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS

_DEVELOPMENT = ("aliyun_sample", "messy_dev")
_OTHER = "waybill_dev"


def development(data: Path) -> tuple[str, ...]:
    """The development lines that drafts are judged on, in their order. Errors: `UsageError`."""
    return tuple(text for name in _DEVELOPMENT for text in _texts(_folder(data) / f"{name}.jsonl"))


def warm_up(data: Path, count: int) -> tuple[str, ...]:
    """Lines that are not among the development lines. Errors: `UsageError`."""
    return tuple(_texts(_folder(data) / f"{_OTHER}.jsonl")[:count])


def many(data: Path, count: int, seed: int) -> tuple[str, ...]:
    """Distinct lines of all files, shuffled; repeated only if there are too few. Errors: `UsageError`."""
    files = sorted(_folder(data).glob("*.jsonl"))
    texts = list(dict.fromkeys(text for file in files for text in _texts(file)))
    random.Random(seed).shuffle(texts)
    return tuple((texts * (count // len(texts) + 1))[:count])


def _folder(data: Path) -> Path:
    folder = data / "address"
    if not any(folder.glob("*.jsonl")):
        raise UsageError(f"{folder} holds no .jsonl files of address lines; give the folder that holds address/.")
    return folder


def _texts(file: Path) -> list[str]:
    return [gold.text for gold in read_gold(str(file), ADDRESS)]
