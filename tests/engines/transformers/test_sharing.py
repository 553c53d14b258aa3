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


def test_what_could_not_be_made_is_tried_again() -> None:
    shared: Shared[Thing] = Shared()

    def fails() -> Thing:
        raise MemoryError

    with pytest.raises(MemoryError):
        shared.borrow("a", fails)
    assert isinstance(shared.borrow("a", Thing), Thing)
