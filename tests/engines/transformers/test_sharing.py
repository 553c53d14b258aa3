"""Things are made once while they are in use, and closed by their last user."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from copydesk.engines.transformers.sharing import Shared


class Thing:
    """Counts its closing."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_the_last_user_closes() -> None:
    shared: Shared[Thing] = Shared()
    one, other = shared.borrow("a", Thing), shared.borrow("a", Thing)
    assert one is other
    assert shared.borrow("b", Thing) is not one
    shared.give_back("a")
    assert one.closed == 0
    shared.give_back("a")
    assert one.closed == 1
    assert shared.borrow("a", Thing) is not one


def test_threads_wait_for_the_one_that_makes_it() -> None:
    shared: Shared[Thing] = Shared()
    made = []

    def make() -> Thing:
        time.sleep(0.05)
        made.append(Thing())
        return made[-1]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: shared.borrow("a", make), range(8)))
    assert set(map(id, found)) == {id(made[0])}
    assert len(made) == 1


def test_a_user_may_leave_while_another_comes() -> None:
    """As when a garbage collection finds an engine while weights are loaded."""
    shared: Shared[Thing] = Shared()
    one = shared.borrow("a", Thing)

    def make() -> Thing:
        shared.give_back("a")
        return Thing()

    shared.borrow("b", make)
    assert one.closed == 1
    assert shared._things.keys() == {"b"}


def test_a_user_may_leave_while_another_is_taken_back() -> None:
    shared: Shared[Thing] = Shared()
    one, other = shared.borrow("a", Thing), shared.borrow("b", Thing)
    one.close = lambda: shared.give_back("b")  # type: ignore[method-assign]
    shared.give_back("a")
    assert other.closed == 1
    assert not shared._things


def test_what_could_not_be_made_is_tried_again() -> None:
    shared: Shared[Thing] = Shared()

    def fails() -> Thing:
        raise MemoryError

    with pytest.raises(MemoryError):
        shared.borrow("a", fails)
    assert isinstance(shared.borrow("a", Thing), Thing)
