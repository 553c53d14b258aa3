"""One worker: chunks of rows come in through a pipe, and what became of them goes back as each chunk is done.

Knows nothing of other workers, nor of the order of chunks.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from typing import Any

from copydesk.crew import rows
from copydesk.crew.rows import Row
from copydesk.crew.setup import Setup
from copydesk.desk.protocol import AnyDesk
from copydesk.desk.request import Request
from copydesk.engines.sharing.client import EngineClient
from copydesk.errors import CopydeskError, EngineError
from copydesk.options import RequestOptions
from copydesk.stream import ROW_ERRORS, failure
from copydesk.types import Answer, Failure, Task

READY, FAILED = -1, -2
"""Stand for a chunk's number before the first chunk: that the desk is there, or why it is not."""
_NUMBER = 8
"""Bytes of a chunk's number, before its rows."""

Call = bytes
"""What is asked of each row of a stream: the same bytes with all of its chunks."""


def call(task: Task, options: RequestOptions) -> Call:
    """What is asked of the rows. Errors: those of pickling."""
    return pickle.dumps((task, options))


def chunk(number: int, asked: Call, texts: Sequence[str | Failure]) -> bytes:
    """The message that a worker takes rows from."""
    return pickle.dumps((number, asked, texts))


def drop(numbers: Sequence[int]) -> bytes:
    """The message that chunks are no longer wanted. They are sent back all the same, whatever became of them."""
    return pickle.dumps((0, None, numbers))


def done(message: bytes) -> tuple[int, bytes]:
    """Of a worker's message, the number of the chunk and its rows, packed."""
    return int.from_bytes(message[:_NUMBER], "little", signed=True), message[_NUMBER:]


def work(connection: Connection, connections: Sequence[Connection], setup: Setup) -> None:
    """What a worker process does; the one other connection is that to an engine's server."""
    try:
        client = setup.client(connections[0])
        worker = Worker(connection, setup.desk(client, idle=partial(_idle, client)))
    except Exception as error:
        with suppress(OSError):
            connection.send_bytes(_message(FAILED, [_passed_on(error)]))
        return
    worker.run()


@dataclass(slots=True)
class _Chunk:
    """Rows in progress."""

    number: int
    rows: list[Row]
    left: int
    futures: list[Future[Answer[Any]]] = field(default_factory=list)


class Worker:
    """Answers chunks of rows on a desk, which it closes in the end."""

    def __init__(self, connection: Connection, desk: AnyDesk) -> None:
        self._connection = connection
        self._desk = desk
        self._chunks: dict[int, _Chunk] = {}
        self._lock = threading.Lock()

    def run(self) -> None:
        """Until whoever sends chunks is gone."""
        try:
            self._connection.send_bytes(_message(READY, []))
            while True:
                number, asked, content = pickle.loads(self._connection.recv_bytes())
                if asked is None:
                    self._drop(content)
                else:
                    self._begin(number, asked, content)
        except (EOFError, OSError):
            self._desk.close()

    def _begin(self, number: int, asked: Call, texts: Sequence[str | Failure]) -> None:
        chunk = _Chunk(number, [text if isinstance(text, Failure) else EngineError("") for text in texts], len(texts))
        with self._lock:
            self._chunks[number] = chunk
        for index, text in enumerate(texts):
            if isinstance(text, Failure):
                self._finish(chunk, index, text)
                continue
            try:
                task, options = _asked(asked)
                future = self._desk.submit(Request(task=task, text=text, **options))
            except Exception as error:
                self._finish(chunk, index, _passed_on(error))
                continue
            chunk.futures.append(future)
            future.add_done_callback(partial(self._done, chunk, index))

    def _drop(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            with self._lock:
                chunk = self._chunks.get(number)
            for future in list(chunk.futures) if chunk else ():
                future.cancel()

    def _done(self, chunk: _Chunk, index: int, future: Future[Answer[Any]]) -> None:
        self._finish(chunk, index, _outcome(future))

    def _finish(self, chunk: _Chunk, index: int, row: Row) -> None:
        """Take note of a row, on whatever thread; the last one sends them all."""
        with self._lock:
            chunk.rows[index] = row
            chunk.left -= 1
            if chunk.left:
                return
            del self._chunks[chunk.number]
            with suppress(OSError):  # that nobody listens any more, `run` sees as well
                self._connection.send_bytes(_message(chunk.number, chunk.rows))


def _idle(client: EngineClient) -> None:
    """When nothing is left to do: what others may need is freed, and without an engine the worker ends."""
    client.flush()
    if client.lost:
        os._exit(1)


@lru_cache(maxsize=16)
def _asked(asked: Call) -> tuple[Task, RequestOptions]:
    """The same task each time, for much is remembered by task."""
    task, options = pickle.loads(asked)
    return task, options


def _outcome(future: Future[Answer[Any]]) -> Row:
    if future.cancelled():
        return EngineError("It was no longer wanted.")
    error = future.exception()
    if error is None:
        return future.result()
    return failure(error) if isinstance(error, ROW_ERRORS) else _passed_on(error)


def _passed_on(error: BaseException) -> CopydeskError:
    """An error that can be sent to another process."""
    if isinstance(error, CopydeskError):
        return error
    return EngineError(f"A worker process failed: {error!r}.", code="engine_failed")


def _message(number: int, content: Sequence[Row]) -> bytes:
    return number.to_bytes(_NUMBER, "little", signed=True) + rows.packed(content)
