"""The grammar's time is counted while it is asked for, and its classes are as before afterwards."""

from __future__ import annotations

import time

import pytest

from copydesk.bench.grammar_time import GrammarTime
from copydesk.desk.grammar import Grammar, JsonState


class Fake:
    """Nothing but what is timed."""


def slow(self: object) -> str:
    time.sleep(0.01)
    return "slow"


def test_calls_are_timed_and_calls_within_them_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonState, "copy", slow)
    monkeypatch.setattr(JsonState, "forced", lambda self: JsonState.copy(self))
    with GrammarTime() as grammar:
        assert JsonState.forced(Fake()) == "slow"  # type: ignore[arg-type]
    assert 0.01 <= grammar.seconds < 0.02
    assert grammar.compiling == 0.0
    assert JsonState.copy is slow


def test_compiling_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Grammar, "__init__", lambda self: time.sleep(0.01))
    with GrammarTime() as grammar:
        Grammar()  # type: ignore[call-arg]
        assert grammar.compiling == grammar.seconds >= 0.01
        grammar.reset()
    assert grammar.compiling == grammar.seconds == 0.0


def test_nothing_is_timed_unless_asked_for() -> None:
    original = JsonState.accept
    with GrammarTime(active=False) as grammar:
        assert JsonState.accept is original
    assert grammar.seconds == 0.0
