"""Prompt beginnings read once."""

from __future__ import annotations

import pytest

from copydesk.desk.prefixes import Prefixes
from copydesk.engines.protocol import Read
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(50, hashed(50))


def test_a_prefix_is_read_by_the_first_and_forked_for_the_next(engine: FakeEngine) -> None:
    prefixes = Prefixes(engine)
    first, held = prefixes.open((1, 2))
    assert held == 0
    assert prefixes.awaited((1, 2))
    engine.run([Read(first, (1, 2, 9))])
    prefixes.keep((1, 2), first)
    assert not prefixes.awaited((1, 2))
    second, held = prefixes.open((1, 2))
    assert (held, engine.length(second), engine.length(first)) == (2, 2, 3)


def test_those_longest_unused_are_given_up(engine: FakeEngine) -> None:
    prefixes = Prefixes(engine, most=2)
    for prefix in ((1,), (2,), (1,), (3,)):
        sequence, held = prefixes.open(prefix)
        if not held:
            engine.run([Read(sequence, prefix)])
            prefixes.keep(prefix, sequence)
        engine.release(sequence)
    assert engine.open_sequences == 2
    assert [prefixes.open(prefix)[1] for prefix in ((1,), (2,), (3,))] == [1, 0, 1]


def test_nothing_waits_for_a_reader_that_has_gone(engine: FakeEngine) -> None:
    prefixes = Prefixes(engine)
    prefixes.open((1, 2))
    prefixes.forgo((1, 2))
    assert not prefixes.awaited((1, 2))


def test_an_empty_prefix_is_not_worth_keeping(engine: FakeEngine) -> None:
    prefixes = Prefixes(engine)
    sequence, _ = prefixes.open(())
    assert not prefixes.awaited(())
    prefixes.keep((), sequence)
    assert engine.open_sequences == 1


def test_what_cannot_be_copied_is_not_kept(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = Prefixes(engine)
    sequence, _ = prefixes.open((1,))
    engine.run([Read(sequence, (1,))])
    monkeypatch.setattr(engine, "fork", full)
    prefixes.keep((1,), sequence)
    assert not prefixes.awaited((1,))
    assert prefixes.open((1,))[1] == 0


def test_nothing_waits_for_a_reader_that_could_not_begin(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = Prefixes(engine)
    monkeypatch.setattr(engine, "open", full)
    with pytest.raises(EngineError):
        prefixes.open((1, 2))
    assert not prefixes.awaited((1, 2))


def full(sequence: int = 0) -> int:
    raise EngineError("no sequence is free", code="cache_full")


def test_clearing_releases_everything(engine: FakeEngine) -> None:
    prefixes = Prefixes(engine)
    sequence, _ = prefixes.open((1,))
    engine.run([Read(sequence, (1,))])
    prefixes.keep((1,), sequence)
    engine.release(sequence)
    prefixes.clear()
    assert engine.open_sequences == 0
