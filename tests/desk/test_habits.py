"""What tokens a model writes a text with."""

from __future__ import annotations

from copydesk.desk.habits import Habits


def test_what_was_written_last_is_expected_again() -> None:
    habits = Habits()
    assert habits.instead(5) is None
    habits.note(5, 7)
    habits.note(6, 8)
    habits.note(5, 9)
    assert (habits.instead(5), habits.instead(6)) == (9, 8)


def test_a_token_that_is_written_as_usual_is_no_habit() -> None:
    habits = Habits()
    habits.note(5, 7)
    habits.note(5, 5)
    assert habits.instead(5) is None


def test_they_are_bounded() -> None:
    habits = Habits()
    for token in range(10_000):
        habits.note(token, token + 1)
    assert habits.instead(0) is None
    assert habits.instead(9999) == 10_000
