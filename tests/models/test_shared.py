"""Tokenizers are read once while they are in use, and anew when their files change."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from copydesk.errors import ModelError
from copydesk.models import shared
from copydesk.models.shared import shared_tokenizer
from copydesk.models.tokenizer import Tokenizer
from tiny_model import write_tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tokenizer(tmp_path)


def test_threads_get_one_and_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    class Counted(Tokenizer):
        def __init__(self, folder: Path) -> None:
            read.append(folder)
            super().__init__(folder)

    monkeypatch.setattr(shared, "Tokenizer", Counted)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(shared_tokenizer, [folder] * 8))
    assert len(set(map(id, found))) == len(read) == 1
    assert found[0].encode("abc") == Tokenizer(folder).encode("abc")


def test_changed_files_are_read_again(folder: Path) -> None:
    before = shared_tokenizer(folder)
    os.utime(folder / "tokenizer_config.json", ns=(1, 1))
    assert shared_tokenizer(folder) is not before


def test_what_nobody_uses_is_forgotten(folder: Path) -> None:
    before = len(shared._used)
    tokenizer = shared_tokenizer(folder)
    assert len(shared._used) == before + 1
    del tokenizer
    gc.collect()
    assert len(shared._used) == before


def test_a_folder_without_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        shared_tokenizer(tmp_path)
