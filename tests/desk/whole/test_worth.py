"""Whether drafts pay."""

from __future__ import annotations

from copydesk.desk.whole.worth import Worth


def measured(verifying: float, writing: float, stood: int, count: int = 16) -> Worth:
    worth = Worth()
    for number in range(count):
        worth.verified(verifying, number % 16 < stood)
        worth.written(writing)
    return worth


def test_nothing_is_known_at_first() -> None:
    assert Worth().pays()
    assert measured(9.0, 1.0, 0, count=7).pays()


def test_cheap_drafts_pay_also_if_few_stand() -> None:
    assert measured(0.1, 1.0, 16).pays()
    assert measured(0.1, 1.0, 2).pays()
    assert not measured(0.1, 1.0, 1).pays()


def test_dear_drafts_do_not_pay() -> None:
    assert not measured(1.1, 1.0, 16).pays()


def test_one_slow_answer_is_no_matter() -> None:
    worth = measured(0.5, 1.0, 16)
    worth.verified(1000.0, True)
    assert worth.pays()


def test_they_are_tried_now_and_then() -> None:
    worth = measured(9.0, 1.0, 16)
    assert [worth.pays() for _ in range(16)].count(True) == 2


def test_what_is_long_ago_is_forgotten() -> None:
    worth = measured(9.0, 1.0, 0)
    for _ in range(16):
        worth.verified(0.1, True)
    assert worth.pays()
