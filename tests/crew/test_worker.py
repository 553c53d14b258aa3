"""A worker sends each chunk back whole, in the order of its rows, whatever became of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from multiprocessing.connection import Connection
from typing import Any

import pytest

from copydesk import child
from copydesk.crew import rows, worker
from copydesk.crew.rows import Row
from copydesk.crew.worker import Worker
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplyStream
from copydesk.desk.request import Request
from copydesk.errors import EngineError, TextError
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer, Failure, Usage


class ByHand:
    """A desk whose answers the test gives. Satisfies `AnyDesk`."""

    engine = model = "by hand"

    def __init__(self) -> None:
        self.asked: list[tuple[Request, Future[Answer[Any]]]] = []
        self.more = threading.Semaphore(0)
        self.closed = False

    def submit(self, request: Request) -> Future[Answer[Any]]:
        if request.text == "broken":
            raise RuntimeError("a fault")
        future: Future[Answer[Any]] = Future()
        self.asked.append((request, future))
        self.more.release()
        return future

    def submit_chat(self, request: ChatRequest) -> ReplyStream:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True

    def next(self) -> Future[Answer[Any]]:
        """What was asked for longest ago, once it has been."""
        assert self.more.acquire(timeout=10)
        return self.asked.pop(0)[1]


def answer(value: Any) -> Answer[Any]:
    return Answer(value, {}, 1.0, True, None, None, 1, "m", "e", Usage(1, 0, 1), 0.5)


@pytest.fixture
def desk() -> ByHand:
    return ByHand()


@pytest.fixture
def pipe(desk: ByHand) -> Iterator[Connection]:
    own, theirs = child.pipe()
    thread = threading.Thread(target=Worker(theirs, desk).run)
    thread.start()
    assert worker.done(own.recv_bytes()) == (worker.READY, rows.packed([]))
    yield own
    own.close()
    thread.join(10)
    assert desk.closed
    theirs.close()


ASKED = worker.call(AGNEWS, {"seed": 7})


def received(pipe: Connection) -> tuple[int, list[Row]]:
    assert pipe.poll(10)
    number, content = worker.done(pipe.recv_bytes())
    return number, rows.unpacked(content)


def test_chunks_come_back_whole(pipe: Connection, desk: ByHand) -> None:
    failure = Failure("unreadable", "line 2")
    pipe.send_bytes(worker.chunk(1, ASKED, ["a", failure, "b"]))
    pipe.send_bytes(worker.chunk(2, ASKED, ["c"]))
    first, second, third = desk.next(), desk.next(), desk.next()
    third.set_result(answer("C"))
    assert received(pipe) == (2, [answer("C")])
    second.set_result(answer("B"))
    first.set_result(answer("A"))
    assert received(pipe) == (1, [answer("A"), failure, answer("B")])


def test_what_is_asked_is_the_same_task_each_time(pipe: Connection, desk: ByHand) -> None:
    for number in (1, 2):
        pipe.send_bytes(worker.chunk(number, ASKED, ["a"]))
        assert desk.more.acquire(timeout=10)
    (first, _), (second, _) = desk.asked
    assert (first.task, first.seed) == (AGNEWS, 7)
    assert second.task is first.task


def test_whose_fault_it_is(pipe: Connection, desk: ByHand) -> None:
    pipe.send_bytes(worker.chunk(1, ASKED, ["a", "b", "c", "broken"]))
    for error in (TextError("none", code="empty_text"), EngineError("dead", code="engine_failed"), KeyError(3)):
        desk.next().set_exception(error)
    number, (text, engine, odd, fault) = received(pipe)
    assert (number, text) == (1, Failure("empty_text", "none"))
    assert [(type(one), str(one)) for one in (engine, odd, fault)] == [
        (EngineError, "dead"),
        (EngineError, "A worker process failed: KeyError(3)."),
        (EngineError, "A worker process failed: RuntimeError('a fault')."),
    ]


def test_what_cannot_be_understood(pipe: Connection) -> None:
    pipe.send_bytes(worker.chunk(1, b"no pickle", ["a"]))
    number, (error,) = received(pipe)
    assert number == 1
    assert "UnpicklingError" in str(error)


def test_chunks_that_are_dropped_come_back_all_the_same(pipe: Connection, desk: ByHand) -> None:
    pipe.send_bytes(worker.chunk(1, ASKED, ["a", "b"]))
    pipe.send_bytes(worker.chunk(2, ASKED, ["c"]))
    done, dropped, kept = desk.next(), desk.next(), desk.next()
    done.set_result(answer("A"))
    pipe.send_bytes(worker.drop([1, 77]))
    number, (first, second) = received(pipe)
    assert (number, first) == (1, answer("A"))
    assert isinstance(second, EngineError)
    assert dropped.cancelled()
    kept.set_result(answer("C"))
    assert received(pipe) == (2, [answer("C")])
