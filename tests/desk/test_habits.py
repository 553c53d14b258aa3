"""What tokens a model writes a text with."""

from __future__ import annotations

from copydesk.desk.habits import Habits


def anything(token: int) -> bool:
    return True


def noted(*written: int) -> Habits:
    """Of the usual token 5."""
    habits = Habits()
    for token in written:
        habits.note(5, token, anything)
    return habits


def test_what_is_written_again_and_again_is_expected() -> None:
    habits = noted(7, 7)
    assert (habits.instead(5, anything), habits.instead(6, anything)) == (7, None)
    assert 5 in habits
    assert 6 not in habits


def test_one_odd_spelling_makes_no_habit() -> None:
    assert noted(7).instead(5, anything) is None


def test_what_is_mostly_written_stays_expected() -> None:
    assert noted(7, 7, 7, 7, 5).instead(5, anything) == 7


def test_a_habit_that_is_given_up_is_forgotten() -> None:
    habits = noted(*[7] * 100, 5, 5, 5)
    assert habits.instead(5, anything) is None
    habits.note(5, 5, anything)
    assert len(habits) == 0


def test_a_token_takes_the_place_of_another() -> None:
    assert noted(7, 7, 7, 8, 8, 8).instead(5, anything) == 8


def test_tokens_that_do_not_fit_are_left_alone() -> None:
    habits = noted(7, 7)
    for _ in range(9):
        habits.note(5, 5, lambda token: token != 7)
    assert habits.instead(5, lambda token: token != 7) is None
    assert habits.instead(5, anything) == 7


def test_they_are_bounded() -> None:
    habits = Habits()
    for token in range(10_000):
        for _ in range(2):
            habits.note(token, token + 1, anything)
    assert len(habits) <= 4096
    assert habits.instead(9999, anything) == 10_000
