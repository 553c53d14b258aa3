"""vLLM without vLLM, over a small tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from copydesk.engines.loop import Loop
from copydesk.models.tokenizer import Tokenizer
from engines.vllm.fake_vllm import FakeVllm


@pytest.fixture(scope="session")
def tokenizer(tiny_model: Path) -> Tokenizer:
    return Tokenizer(tiny_model)


@pytest.fixture
def vllm(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> FakeVllm:
    fake = FakeVllm(tokenizer.encode, tokenizer.eos_token_ids[0])
    fake.install(monkeypatch)
    return fake


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()
