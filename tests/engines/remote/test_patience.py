"""How long is waited before a server is asked again."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.remote.patience import Patience, asked_wait


@given(st.integers(1, 40))
def test_waits_double_up_to_the_longest(attempt: int) -> None:
    patience = Patience(first_wait=0.5, longest_wait=30.0)
    longest = min(30.0, 0.5 * 2 ** (attempt - 1))
    assert longest / 2 <= patience.wait(attempt, None) <= longest


@given(st.integers(1, 40), st.floats(0.0, 1000.0))
def test_no_sooner_than_the_server_asks(attempt: int, asked: float) -> None:
    assert asked <= Patience().wait(attempt, asked) <= asked + 15.0


def test_waits_are_not_all_the_same() -> None:
    assert len({Patience().wait(3, None) for _ in range(20)}) > 1


@pytest.mark.parametrize(("written", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), (None, None), ("soon", None)])
def test_retry_after_in_seconds(written: str | None, seconds: float | None) -> None:
    assert asked_wait(written) == seconds


def test_retry_after_as_a_date() -> None:
    wait = asked_wait(formatdate(time.time() + 60, usegmt=True))
    assert wait is not None
    assert 55 < wait <= 60
