"""A crew of two on a made-up engine: processes are started once for all tests that do not break them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from copydesk.crew.crew import Crew
from copydesk.crew.setup import Setup
from copydesk.desk.desk import Desk
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ThreadHost
from copydesk.engines.sharing.turns import Turns
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.prompt import render_prompt
from fake_engine import FakeEngine, hashed

SEED = 5


@dataclass(frozen=True)
class Shift:
    """A crew, its engine, and a desk on the same scores without a crew."""

    crew: Crew
    engine: FakeEngine
    desk: Desk


@pytest.fixture(scope="session")
def tokenizer(tiny_model: Path) -> Tokenizer:
    return Tokenizer(tiny_model)


def fake(tokenizer: Tokenizer) -> FakeEngine:
    """The engine that all have."""
    return FakeEngine(tokenizer.vocab_size, hashed(tokenizer.vocab_size, SEED))


def _shift(tiny_model: Path, tokenizer: Tokenizer) -> Shift:
    engine = fake(tokenizer)
    crew = Crew(Setup(tiny_model, Facts.of(engine)), [ThreadHost(Turns(engine), 2)])
    crew.wait()
    return Shift(crew, engine, Desk(fake(tokenizer), tokenizer, lambda task: render_prompt(task, tokenizer)))


def _end(shift: Shift) -> None:
    shift.crew.close()
    shift.desk.close()
    assert shift.engine.open_sequences == 0


@pytest.fixture(scope="session")
def shift(tiny_model: Path, tokenizer: Tokenizer) -> Iterator[Shift]:
    made = _shift(tiny_model, tokenizer)
    yield made
    _end(made)


@pytest.fixture
def own_shift(tiny_model: Path, tokenizer: Tokenizer) -> Iterator[Shift]:
    """One that the test may break."""
    made = _shift(tiny_model, tokenizer)
    yield made
    _end(made)
