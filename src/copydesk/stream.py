"""Many rows through the desk, a bounded number in flight: results come out in the order of the rows, each at once.

Knows no tasks and no files: it is given the rows, a way to start one, and a way to finish one.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from copydesk.errors import AnswerError, CopydeskError, LengthError, TextError
from copydesk.types import Failure

Item = TypeVar("Item")
Started = TypeVar("Started")
Result = TypeVar("Result")

ROW_ERRORS = (AnswerError, LengthError, TextError)
"""What is wrong with one row; any other error would meet every row and ends the stream."""


class ReadAhead(Generic[Item]):
    """An iterator that reads its source in a thread of its own and knows whether the next item is there yet.

    For a source that may be slow, such as a pipe. The thread reads until the source ends, at most `size` items ahead,
    and is left to die with the process: this is nothing for a library's caller.
    """

    def __init__(self, source: Iterable[Item], size: int = 256) -> None:
        self._source = source
        self._items: queue.Queue[tuple[Item] | BaseException] = queue.Queue(size)
        self._ended: BaseException | None = None
        threading.Thread(target=self._read, name="copydesk-read-ahead", daemon=True).start()

    def would_block(self) -> bool:
        """Whether `next` would have to wait for the source."""
        return self._ended is None and self._items.empty()

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        if self._ended is not None:
            raise self._ended
        item = self._items.get()
        if isinstance(item, tuple):
            return item[0]
        self._ended = item
        raise item

    def _read(self) -> None:
        try:
            for item in self._source:
                self._items.put((item,))
        except BaseException as error:
            self._items.put(error)
        else:
            self._items.put(StopIteration())


def would_block(source: Iterator[Any]) -> bool:
    """Whether the next item is known to take its time, as with `ReadAhead`."""
    asked: Callable[[], bool] | None = getattr(source, "would_block", None)
    return asked is not None and asked()


def in_order(
    items: Iterable[Item | Failure],
    start: Callable[[Item], Future[Started]],
    finish: Callable[[Started], Result],
    in_flight: int,
) -> Iterator[Result | Failure]:
    """`finish(start(item).result())` of each item, in order, at most `in_flight` items started and not yet handed out.

    A row's own error becomes a `Failure` in its place, and a `Failure` among the items stays in its own. Any other
    error, and an error of `items` itself, is raised after the results before it. Closing the generator cancels what
    is in flight.
    """
    pending: deque[Future[Started] | Failure] = deque()
    source = iter(items)
    ended: Exception | None = None
    try:
        while True:
            while ended is None and len(pending) < in_flight:
                if pending and would_block(source):
                    break
                try:
                    item = next(source)
                except Exception as error:
                    ended = error
                    break
                pending.append(item if isinstance(item, Failure) else _started(start, item))
                if not isinstance(head := pending[0], Future) or head.done():
                    break
            if not pending:
                break
            yield _finished(pending.popleft(), finish)
    finally:
        for future in pending:
            if isinstance(future, Future):
                future.cancel()
    if ended is not None and not isinstance(ended, StopIteration):
        raise ended


def _started(start: Callable[[Item], Future[Started]], item: Item) -> Future[Started] | Failure:
    try:
        return start(item)
    except ROW_ERRORS as error:
        return failure(error)


def _finished(row: Future[Started] | Failure, finish: Callable[[Started], Result]) -> Result | Failure:
    if isinstance(row, Failure):
        return row
    try:
        return finish(row.result())
    except ROW_ERRORS as error:
        return failure(error)


def failure(error: CopydeskError) -> Failure:
    """What stands in a row's place that could not be answered."""
    return Failure(error.code, str(error))
