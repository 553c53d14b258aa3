"""What the tests of the desk share: a small real tokenizer, and desks without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from copydesk.desk.canonical import Canonical
from copydesk.desk.desk import Desk
from copydesk.desk.drafting import Drafting
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from fake_engine import FakeEngine, Logits

MakeDesk = Callable[..., tuple[Desk, FakeEngine]]


@pytest.fixture(scope="session")
def tokenizer(tiny_model: Path) -> Tokenizer:
    return Tokenizer(tiny_model)


@pytest.fixture(scope="session")
def canonical(tokenizer: Tokenizer) -> Canonical:
    return Canonical(tokenizer)


@pytest.fixture
def make_desk(tokenizer: Tokenizer) -> Iterator[MakeDesk]:
    """Makes desks on fake engines with given logits; they are closed, and checked to leave nothing open, at the end."""
    made: list[tuple[Desk, FakeEngine]] = []

    def make(
        logits: Logits, *, context_length: int = 4096, drafting: Drafting | None = None
    ) -> tuple[Desk, FakeEngine]:
        engine = FakeEngine(tokenizer.vocab_size, logits, context_length=context_length)
        made.append((Desk(engine, tokenizer, lambda task: render_prompt(task, tokenizer), drafting), engine))
        return made[-1]

    yield make
    for desk, engine in made:
        desk.close()
        assert engine.open_sequences == 0
