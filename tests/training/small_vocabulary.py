"""A reduced tokenizer folder: a small tokenizer like Qwen3's, cut down."""

from __future__ import annotations

from pathlib import Path

from copydesk.training.vocabulary import Vocabulary, cut, write_folder
from models.small_tokenizer import SAMPLES

SIZE = 384


def write_reduced(source: Path, destination: Path, *, size: int = SIZE) -> int:
    """Fill `destination` from the tokenizer folder `source`; returns the number of ids."""
    write_folder(cut(Vocabulary.read(source), SAMPLES, size), source, destination)
    return size
