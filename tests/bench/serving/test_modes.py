"""Which mode is used for how many clients."""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.bench.serving.modes import Mode, choose

FOUR, SIXTEEN, SPECULATIVE = Mode(4), Mode(16), Mode(16, speculation=True)
RATES = {FOUR: {1: 10.0, 64: 20.0}, SIXTEEN: {1: 10.0, 64: 30.0}, SPECULATIVE: {1: 11.0, 64: 25.0}}


def _measure(mode: Mode, clients: Sequence[int]) -> dict[int, float]:
    return {number: RATES[mode][number] for number in clients}


def test_each_number_of_clients_has_the_best() -> None:
    choice = choose((4, 16), (1, 64), _measure)
    assert choice.modes == {1: SPECULATIVE, 64: SIXTEEN}
    assert choice.groups() == {SPECULATIVE: [1], SIXTEEN: [64]}
    assert choice.tried == RATES
    assert choice.to_dict() == {
        "used": {"16 slots, ngram-simple": [1], "16 slots": [64]},
        "requests_per_second": {
            "4 slots": {"1": 10.0, "64": 20.0},
            "16 slots": {"1": 10.0, "64": 30.0},
            "16 slots, ngram-simple": {"1": 11.0, "64": 25.0},
        },
    }


def test_a_mode_that_is_hardly_better_is_not_worth_a_server_of_its_own() -> None:
    def measure(mode: Mode, clients: Sequence[int]) -> dict[int, float]:
        return {1: 10.4 if mode == FOUR else 10.0, 64: 30.0 if mode == SIXTEEN else 20.0}

    assert choose((4, 16), (1, 64), measure).groups() == {SIXTEEN: [1, 64]}
