"""Which mode is used for how many clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from copydesk.bench.serving.modes import Mode, choose

SPINNING, PASSIVE, SINGLE = Mode(16, 2), Mode(16, 2, spins=False), Mode(16, 1)
FOUR, SPECULATIVE = Mode(4, 2, spins=False), Mode(16, 2, spins=False, speculation=True)


def _measure(rates: dict[Mode, tuple[float, float]]) -> Callable[[Mode, Sequence[int]], dict[int, float]]:
    return lambda mode, clients: dict(zip(clients, rates[mode], strict=True))


def test_each_number_of_clients_has_the_best() -> None:
    rates = {SPINNING: (10.0, 12.0), PASSIVE: (9.0, 30.0), SINGLE: (8.0, 20.0), FOUR: (9.0, 25.0)}
    rates[SPECULATIVE] = (11.0, 29.0)
    choice = choose(2, (16, 4), (1, 10, 64), _measure(rates))
    assert list(choice.tried) == [SPINNING, PASSIVE, SINGLE, FOUR, SPECULATIVE]
    assert choice.modes == {1: SPECULATIVE, 10: PASSIVE, 64: PASSIVE}
    assert choice.groups() == {SPECULATIVE: [1], PASSIVE: [10, 64]}
    told = choice.to_dict()
    assert told["used"] == {
        "16 slots, 2 threads (passive), ngram-simple": [1],
        "16 slots, 2 threads (passive)": [10, 64],
    }
    assert told["requests_per_second"]["16 slots, 1 thread"] == {"1": 8.0, "10": 20.0}


def test_a_mode_that_is_hardly_better_is_not_worth_a_server_of_its_own() -> None:
    rates = dict.fromkeys((SPINNING, PASSIVE, SINGLE, FOUR, SPECULATIVE), (10.0, 20.0))
    rates[SINGLE], rates[PASSIVE] = (10.4, 20.0), (10.0, 21.0)
    assert choose(2, (16, 4), (1, 10, 64), _measure(rates)).groups() == {PASSIVE: [1, 10, 64]}


def test_one_thread_has_nobody_to_wait_for() -> None:
    rates = {SINGLE: (1.0, 1.0), Mode(16, 1, speculation=True): (2.0, 2.0)}
    choice = choose(1, (16,), (1, 10), _measure(rates))
    assert set(choice.tried) == set(rates)
    assert set(choice.modes.values()) == {Mode(16, 1, speculation=True)}
