"""A small tokenizer folder and gold lines, made once for all tests of the training room."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import toy

from copydesk.models.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.tokenizer_folder(tmp_path_factory.mktemp("toy") / "tokenizer")


@pytest.fixture(scope="session")
def toy_tokenizer(toy_folder: Path) -> Tokenizer:
    return Tokenizer(toy_folder)
