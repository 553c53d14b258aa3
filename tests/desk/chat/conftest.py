"""Tokenizers that know reasoning, in the ways that templates have of it."""

from __future__ import annotations

import pytest

from copydesk.models.tokenizer import Tokenizer

from .chatting import OPENING, PLAIN, write_thinking_tokenizer


@pytest.fixture(scope="session")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Its template leaves it to the model to open reasoning."""
    return Tokenizer(write_thinking_tokenizer(tmp_path_factory.mktemp("thinking")))


@pytest.fixture(scope="session")
def opening(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Its template always opens reasoning; the marks are plain letters."""
    return Tokenizer(write_thinking_tokenizer(tmp_path_factory.mktemp("opening"), OPENING, marks=False))


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Its template knows nothing of reasoning, the vocabulary has marks for it."""
    return Tokenizer(write_thinking_tokenizer(tmp_path_factory.mktemp("plain"), PLAIN))
