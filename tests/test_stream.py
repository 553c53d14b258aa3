"""Rows out in the order of the rows in, with a bounded number in flight."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.errors import EngineError, LengthError, TextError
from copydesk.stream import ReadAhead, in_order
from copydesk.types import Failure


def done(value: int) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(value)
    return future


@given(
    st.lists(st.one_of(st.integers(0, 99), st.builds(Failure, st.just("bad"), st.text(max_size=3)))),
    st.integers(1, 5),
    st.booleans(),
)
def test_order_is_kept_and_failures_stay_in_place(items: list[int | Failure], in_flight: int, ahead: bool) -> None:
    source = ReadAhead(items) if ahead else items
    results = list(in_order(source, done, lambda value: value + 1, in_flight))
    assert results == [item if isinstance(item, Failure) else item + 1 for item in items]


def test_order_is_kept_when_later_rows_finish_first() -> None:
    last_started = threading.Event()

    def work(item: int) -> int:
        if item == 3:
            last_started.set()
        if item == 0:
            last_started.wait(10)
        return item

    with ThreadPoolExecutor(4) as pool:
        assert list(in_order(range(4), lambda item: pool.submit(work, item), lambda item: item, 4)) == [0, 1, 2, 3]


def test_no_more_rows_are_started_than_may_be_in_flight() -> None:
    started: list[Future[int]] = []

    def start(item: int) -> Future[int]:
        started.append(Future())
        return started[-1]

    results = in_order(range(100), start, lambda item: item, 3)
    threading.Timer(0.05, lambda: started[0].set_result(7)).start()
    assert next(results) == 7
    assert len(started) == 3


def test_a_finished_row_comes_out_before_a_slow_source_gives_the_next() -> None:
    more = threading.Event()

    def slowly() -> Iterator[int]:
        yield 1
        more.wait(10)
        yield 2

    results = in_order(ReadAhead(slowly()), done, lambda item: item, 8)
    assert next(results) == 1
    assert not more.is_set()
    more.set()
    assert list(results) == [2]


@pytest.mark.parametrize("error", [TextError("empty", code="empty_text"), LengthError("too short")])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_rows_own_error_takes_its_place(error: TextError, at_once: bool) -> None:
    def start(item: int) -> Future[int]:
        if item != 1:
            return done(item)
        if at_once:
            raise error
        future: Future[int] = Future()
        future.set_exception(error)
        return future

    assert list(in_order(range(3), start, lambda item: item, 2)) == [0, Failure(error.code, str(error)), 2]


def test_an_engines_error_ends_the_stream() -> None:
    def start(item: int) -> Future[int]:
        future: Future[int] = Future()
        future.set_exception(EngineError("gone"))
        return future

    with pytest.raises(EngineError, match="gone"):
        list(in_order(range(3), start, lambda item: item, 2))


@pytest.mark.parametrize("ahead", [True, False])
def test_results_before_an_error_of_the_source_come_out_first(ahead: bool) -> None:
    def breaking() -> Iterator[int]:
        yield 1
        yield 2
        raise TextError("stopped midway")

    results = in_order(ReadAhead(breaking()) if ahead else breaking(), done, lambda item: item, 8)
    assert next(results) == 1
    assert next(results) == 2
    with pytest.raises(TextError, match="stopped midway"):
        next(results)


def test_closing_cancels_what_is_in_flight() -> None:
    futures = [done(0), Future(), Future()]
    results = in_order(range(3), lambda item: futures[item], lambda item: item, 3)
    assert next(results) == 0
    waiting = threading.Timer(0.05, lambda: futures[1].set_result(1))
    waiting.start()
    assert next(results) == 1
    assert isinstance(results, Iterator)
    results.close()  # type: ignore[attr-defined]
    assert futures[2].cancelled()


def test_reading_ahead_is_bounded() -> None:
    given_out: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            given_out.append(len(given_out))
            yield given_out[-1]

    ahead = ReadAhead(endless(), size=4)
    assert [next(ahead) for _ in range(3)] == [0, 1, 2]
    assert len(given_out) <= 3 + 4 + 1


def test_an_ended_source_stays_ended() -> None:
    ahead = ReadAhead([1])
    assert list(ahead) == [1]
    assert list(ahead) == []
    assert not ahead.would_block()
