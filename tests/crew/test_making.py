"""Workers are divided among engines, and answer alike on each."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from copydesk.crew import making, worker
from copydesk.crew.making import make_crew, number_of, usual_workers
from copydesk.crew.setup import Setup
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.turns import Turns
from copydesk.errors import EngineError, ModelError, UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer
from other_process import not_found, seeded

from .conftest import SEED, Shift, fake


def test_two_engines_answer_as_one(tiny_model: Path, tokenizer: Tokenizer, shift: Shift) -> None:
    engine = fake(tokenizer)
    further = [partial(seeded, tokenizer.vocab_size, SEED)]
    crew = make_crew(Turns(engine), Setup(tiny_model, Facts.of(engine)), 1, further=further)
    crew.wait()
    texts = [f"text {number}" for number in range(100)]
    found = [row.value for row in crew.answers(texts, worker.call(AGNEWS, {})) if isinstance(row, Answer)]
    read = shift.engine.tokens_read
    expected = [row.value for row in shift.crew.answers(texts, worker.call(AGNEWS, {})) if isinstance(row, Answer)]
    assert found == expected
    assert 0 < engine.tokens_read < shift.engine.tokens_read - read
    crew.close()
    assert engine.open_sequences == 0


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (not_found, ModelError, "no model here"),
        (partial(seeded, 77, SEED), EngineError, "differ"),
    ],
)
def test_another_engine_that_will_not_do(
    tiny_model: Path, tokenizer: Tokenizer, load: Any, error: type[Exception], message: str
) -> None:
    engine = fake(tokenizer)
    with pytest.raises(error, match=message):
        make_crew(engine, Setup(tiny_model, Facts.of(engine)), 2, further=[load])


@pytest.mark.parametrize(("cores", "workers"), [(1, 0), (2, 0), (3, 2), (16, 15)])
def test_a_core_is_left_to_the_engine(monkeypatch: pytest.MonkeyPatch, cores: int, workers: int) -> None:
    monkeypatch.setattr(making, "available_processors", lambda: cores)
    assert usual_workers() == workers


def test_only_a_gpu_has_workers_by_itself(monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer) -> None:
    monkeypatch.setattr(making, "available_processors", lambda: 9)
    engine = fake(tokenizer)
    assert [number_of(workers, engine) for workers in (None, 0, 3)] == [0, 0, 3]
    engine.name = "cuda"
    assert [number_of(workers, engine) for workers in (None, 0, 3)] == [8, 0, 3]
    for senseless in (-1, 1000, True, 1.5, "2"):
        with pytest.raises(UsageError, match="workers"):
            number_of(senseless, engine)  # type: ignore[arg-type]
