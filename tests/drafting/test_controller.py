"""How much is drafted, and that drafts never cost much more than they bring."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.controller import Controller, Costs, Pass, Record

STEEP = Costs.measured({1: 63, 2: 73, 4: 98, 8: 152, 16: 237, 32: 426})
LEVEL = Costs.measured({1: 39, 2: 39, 4: 44, 8: 52, 16: 69, 32: 94})
FLAT = Costs.measured({1: 4.27, 64: 4.85, 128: 5.04})
STIFF = Costs.measured({1: 1.75, 2: 1.9, 4: 2.3, 8: 5.3, 16: 6.4, 32: 9.4, 64: 15.2}, 1.0)
ENGINES = [STEEP, LEVEL, FLAT, STIFF]
OPEN = 46


def ratio(costs: Costs, chance: Callable[[int], float], answers: int = 200, prompt: int = 40) -> float:
    """What answers cost of 46 open tokens each, against no drafts, if every drafted token stands with some chance."""
    controller, luck = Controller(costs), random.Random(1)
    spent = plain = 0.0
    for answer in range(answers):
        left, read, before = OPEN, prompt, 0
        plain += costs.of(prompt) + (OPEN - 1) * costs.of(1) + 2 * costs.change
        while left:
            ride = Pass(read, again=left < OPEN, before=before)
            drafted = controller.length("task", "drafter", left - 1, ride)
            assert 0 <= drafted < left
            stood = 0
            while stood < drafted and luck.random() < chance(answer):
                stood += 1
            spent += costs.of(read + drafted) + costs.change * (read + drafted != before)
            before = read + drafted
            controller.judge("task", "drafter", ride, drafted, stood)
            left, read = left - 1 - stood, 1
    return spent / plain


@pytest.mark.parametrize("costs", ENGINES)
def test_hostile_drafts_cost_a_few_percent_at_most(costs: Costs) -> None:
    assert 1.0 <= ratio(costs, lambda _: 0.0) < 1.03


@pytest.mark.parametrize("costs", ENGINES)
@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_no_drafts_cost_more_than_that(costs: Costs, chance: float) -> None:
    assert ratio(costs, lambda _: chance) < 1.03


@pytest.mark.parametrize("costs", ENGINES)
def test_right_drafts_are_read_whole(costs: Costs) -> None:
    whole = costs.of(40 + OPEN - 1) / (costs.of(40) + (OPEN - 1) * costs.of(1))
    assert ratio(costs, lambda _: 1.0) < 1.02 * whole + 0.01


@pytest.mark.parametrize("costs", ENGINES)
def test_it_notices_when_drafts_become_bad_or_good(costs: Costs) -> None:
    good, none = ratio(costs, lambda _: 1.0), 1.0
    for chance in (lambda answer: float(answer < 100), lambda answer: float(answer >= 100)):
        assert ratio(costs, chance) < (good + none) / 2 + 0.05


def test_answers_that_suit_a_drafter_are_not_given_up_for_those_that_do_not() -> None:
    assert ratio(LEVEL, lambda answer: float(answer % 2)) < 0.6


def test_drafts_are_paid_for_when_they_are_planned() -> None:
    controller = Controller(STEEP)
    planned = [controller.length("task", "drafter", 20, Pass(1, others=31)) for _ in range(320)]
    extra = sum(Pass(1, others=31).extra(STEEP, length) for length in planned)
    assert planned[0] > 0
    assert planned[-1] == 0
    assert extra <= 32.0


def test_records_are_bounded() -> None:
    controller = Controller(LEVEL)
    for _ in range(9):
        controller.judge("first", "drafter", Pass(1), 20, 0)
    known = controller.length("first", "drafter", 20, Pass(1))
    for number in range(2000):
        controller.judge(str(number), "drafter", Pass(1), 1, 1)
    assert controller.length("first", "drafter", 20, Pass(1)) > known


def test_what_was_planned_and_not_read_is_paid_back() -> None:
    controller, same = Controller(STEEP), Controller(STEEP)
    planned = controller.length("task", "drafter", 20, Pass(40))
    controller.judge("task", "drafter", Pass(40), 0, 0, paid=planned, read=0)
    same.judge("task", "drafter", Pass(40), 0, 0)
    assert planned > 0
    assert controller.length("task", "drafter", 20, Pass(40)) == same.length("task", "drafter", 20, Pass(40))


def test_nothing_is_drafted_before_costs_are_known() -> None:
    controller = Controller()
    controller.judge("task", "drafter", Pass(40), 0, 0)
    assert controller.length("task", "drafter", 20, Pass(40)) == 0
    controller.costs = LEVEL
    assert controller.length("task", "drafter", 20, Pass(40)) > 0


def test_the_worse_drafts_fare_the_less_of_them_is_looked_at() -> None:
    controller = Controller(LEVEL)
    reach = [controller.reach("task", "drafter", Pass(1))]
    for _ in range(3):
        for _ in range(20):
            controller.judge("task", "drafter", Pass(1), 1, 0)
        reach.append(controller.reach("task", "drafter", Pass(1)))
    assert reach[0] > 100
    assert reach == sorted(reach, reverse=True)
    assert 1 <= reach[-1] < 6
    assert controller.reach("task", "drafter", Pass(1, again=True)) == reach[0]
    for _ in range(1000):
        controller.judge("task", "drafter", Pass(1), 60, 60)
    assert controller.reach("task", "drafter", Pass(1)) > 1000


def test_nothing_is_planned_of_nothing() -> None:
    assert Controller(LEVEL).length("task", "drafter", 0, Pass(1)) == 0


def test_tasks_and_drafters_are_judged_apart() -> None:
    controller = Controller(LEVEL)
    for _ in range(30):
        drafted = controller.length("task", "bad", 20, Pass(1))
        controller.judge("task", "bad", Pass(1), drafted, 0)
    assert controller.length("task", "bad", 20, Pass(1)) < 3
    assert controller.length("task", "good", 20, Pass(1)) == controller.length("other", "bad", 20, Pass(1)) > 10


def test_what_is_read_beside_the_drafted_tokens_is_paid_for() -> None:
    def length(beside: int) -> int:
        controller = Controller(STEEP)
        for _ in range(4):
            paid = controller.length("task", "drafter", 8, Pass(1))
            controller.judge("task", "drafter", Pass(1), paid, 0, paid=paid, read=paid + beside)
        return controller.length("task", "drafter", 8, Pass(1))

    assert length(0) > length(60) == 0


def test_a_token_that_stands_saves_what_comes_along_too() -> None:
    """Where many tokens are forced, passes without drafts are large as well."""
    bare, among_forced = Record(stood=70, fell=30), Record(stood=70, fell=30, drafted=10, read=60)
    assert bare.length(STIFF, Pass(1, before=1), 24) == 3
    assert among_forced.length(STIFF, Pass(1, before=1), 24) == 24
    assert bare.after(STIFF, Pass(1), 2).credit < among_forced.after(STIFF, Pass(1), 2).credit


def test_what_comes_along_is_known_from_what_was_read() -> None:
    record = Record()
    for _ in range(20):
        record = record.having_read(8, 24)
    assert record.size == pytest.approx(3.0, rel=0.01)
    assert record.having_read(1, 0).size >= 1.0


def test_drafters_are_ranked_by_what_stood() -> None:
    controller = Controller(LEVEL)
    assert controller.ranked("task", ["rules", "tagger"]) == ["rules", "tagger"]
    for _ in range(20):
        controller.compare("task", "rules", 20, True)
        controller.compare("task", "tagger", 90, False)
    assert controller.ranked("task", ["rules", "tagger"]) == ["tagger", "rules"]
    assert controller.ranked("other", ["rules", "tagger"]) == ["rules", "tagger"]


def test_costs_between_and_beyond_those_measured() -> None:
    costs = Costs.measured({1: 10, 4: 16, 8: 24})
    assert [round(costs.of(tokens), 9) for tokens in (0, 1, 2, 4, 6, 8, 12)] == [1, 1, 1.2, 1.6, 2, 2.4, 3.2]
    assert Costs.measured({1: 10}).of(50) == 1
    assert Costs.measured({1: 10, 2: 9, 4: 20}).passes == (1.0, 1.0, 2.0)


@given(
    st.dictionaries(st.integers(1, 64), st.floats(0.1, 100), min_size=1, max_size=6),
    st.floats(0, 10),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 90), st.integers(0, 63)), max_size=60),
)
def test_what_drafts_may_cost_is_bounded_whatever_happens(
    table: dict[int, float], change: float, passes: list[tuple[int, int, int, int]]
) -> None:
    costs = Costs.measured(table, change)
    controller = Controller(costs)
    gained, allowed = 0.0, 32.0
    for offered, standing, read, others in passes:
        ride = Pass(read, others)
        drafted = controller.length("task", "drafter", offered, ride)
        assert 0 <= drafted <= offered
        stood = min(standing, drafted)
        controller.judge("task", "drafter", ride, drafted, stood)
        gained += stood * ride.share(costs) - ride.extra(costs, drafted)
        allowed += 0.02 * ride.share(costs)
        assert gained >= -allowed - 1e-6
