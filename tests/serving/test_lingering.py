"""What reaches the real transport, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from copydesk.serving.lingering import LingeringTransport


class Transport(asyncio.Transport):
    """Writes down what it is told."""

    def __init__(self, *, can_write_eof: bool = True) -> None:
        super().__init__()
        self.told: list[Any] = []
        self._can_write_eof = can_write_eof

    def write(self, data: Any) -> None:
        self.told.append(data)

    def can_write_eof(self) -> bool:
        return self._can_write_eof

    def write_eof(self) -> None:
        self.told.append("eof")

    def resume_reading(self) -> None:
        self.told.append("reads")

    def close(self) -> None:
        self.told.append("closed")

    def abort(self) -> None:
        self.told.append("aborted")

    def is_closing(self) -> bool:
        return "closed" in self.told


class Made:
    """A transport over one that writes down; every write begins an answer while `begins` is set."""

    def __init__(self, *, unread: bool = False, can_write_eof: bool = True) -> None:
        self.begins = False
        self.under = Transport(can_write_eof=can_write_eof)
        self.loop = asyncio.new_event_loop()
        self.over = LingeringTransport(self.under, self.loop, lambda: unread, lambda: self.begins)

    def begin(self, data: bytes) -> None:
        self.begins = True
        self.over.write(data)
        self.begins = False


@pytest.fixture
def made() -> Iterator[Made]:
    made = Made()
    yield made
    made.loop.close()


def test_a_beginning_goes_out_with_what_follows(made: Made) -> None:
    made.begin(b"head ")
    assert made.under.told == []
    made.over.write(b"body")
    made.over.write(b"more")
    assert made.under.told == [b"head body", b"more"]


def test_nothing_may_follow(made: Made) -> None:
    made.begin(b"head")
    made.over.write(b"")
    assert made.under.told == [b"head"]


def test_closing_keeps_no_beginning_back(made: Made) -> None:
    made.begin(b"head")
    made.over.close()
    assert made.under.told == [b"head", "closed"]


def test_aborting_does(made: Made) -> None:
    made.begin(b"head")
    made.over.abort()
    assert made.under.told == ["aborted"]


def test_closing_in_the_middle_lingers() -> None:
    made = Made(unread=True)
    made.begin(b"head")
    made.over.close()
    made.over.close()
    assert made.under.told == [b"head", "eof", "reads"]
    assert made.over.lingers
    assert made.over.is_closing()
    made.loop.close()


def test_a_transport_that_cannot_close_one_way() -> None:
    made = Made(unread=True, can_write_eof=False)
    made.over.close()
    made.over.linger()
    assert made.under.told == ["closed"]
    made.loop.close()
