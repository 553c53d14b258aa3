"""What does not fit the context is cut where the caller allows it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from copydesk.desk.whole.fitting import fitted, fitted_turns
from copydesk.errors import EngineError, TextError
from copydesk.types import Messages


def room(most: int, asked: list[Any]) -> Callable[[Any], Awaitable[Any]]:
    """An engine that takes so many characters."""

    async def ask(given: Any) -> Any:
        asked.append(given)
        size = len(given) if isinstance(given, str) else sum(len(turn["content"]) for turn in given)
        if size > most:
            raise TextError("It does not fit.", code="too_long")
        return given

    return ask


TEXT = "第一句。第二句很长很长。" * 20


def test_a_text_that_fits_is_left_alone() -> None:
    assert asyncio.run(fitted(TEXT, False, room(1000, []))) == TEXT


def test_a_text_that_does_not_fit_is_cut_at_a_sentence_end() -> None:
    asked: list[str] = []
    kept = asyncio.run(fitted(TEXT, True, room(50, asked)))
    assert 20 < len(kept) <= 50
    assert TEXT.startswith(kept)
    assert kept.endswith("。")
    assert asked[0] == TEXT


def test_it_is_refused_where_cutting_is_not_allowed() -> None:
    with pytest.raises(TextError, match="does not fit"):
        asyncio.run(fitted(TEXT, False, room(50, [])))


def test_nothing_fits() -> None:
    with pytest.raises(TextError, match="does not fit"):
        asyncio.run(fitted(TEXT, True, room(0, [])))
    with pytest.raises(TextError, match="does not fit"):
        asyncio.run(fitted_turns([{"role": "user", "content": TEXT}], True, room(0, [])))


def test_other_errors_are_passed_on() -> None:
    async def fail(given: Any) -> Any:
        raise EngineError("no")

    with pytest.raises(EngineError, match="no"):
        asyncio.run(fitted(TEXT, True, fail))


TURNS: Messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "a" * 50},
    {"role": "assistant", "content": "b" * 50},
    {"role": "user", "content": "c" * 50},
    {"role": "assistant", "content": "d" * 50},
    {"role": "user", "content": "First sentence. " * 10},
]


@pytest.mark.parametrize(("most", "left"), [(1000, 6), (300, 4), (200, 2)])
def test_the_oldest_turns_go_first(most: int, left: int) -> None:
    kept, truncated = asyncio.run(fitted_turns(TURNS, True, room(most, [])))
    assert truncated is (left < 6)
    assert list(kept) == [TURNS[0], *TURNS[len(TURNS) - left + 1 :]]


def test_then_the_beginning_of_the_last() -> None:
    kept, truncated = asyncio.run(fitted_turns(TURNS, True, room(100, [])))
    assert truncated
    assert kept[0] == TURNS[0]
    assert len(kept) == 2
    assert kept[1]["content"].startswith("First sentence.")
    assert TURNS[-1]["content"].endswith(kept[1]["content"])


def test_turns_are_refused_where_cutting_is_not_allowed() -> None:
    with pytest.raises(TextError, match="does not fit"):
        asyncio.run(fitted_turns(TURNS, False, room(100, [])))
