"""Long streams go over to a crew once there is one; short ones, and what cannot be sent, never do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from copydesk.crew.lazy import LazyCrew
from copydesk.errors import EngineError, UsageError
from copydesk.options import Options
from copydesk.stream import ReadAhead
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.task import classification, extraction
from copydesk.types import Answer, Failure, Task, Usage


def answer(value: Any) -> Answer[Any]:
    return Answer(value, {}, 1.0, True, None, None, 1, "m", "e", Usage(1, 0, 1), 0.5)


class FakeCrew:
    """Says of each row that it was here."""

    def __init__(self, *, ready: bool = True) -> None:
        self.closed = False
        self.broken = False
        self.go = threading.Event()
        if ready:
            self.go.set()

    def wait(self) -> None:
        assert self.go.wait(10)
        if self.closed:
            raise UsageError("closed")

    def answers(
        self, texts: Iterable[str | Failure], asked: bytes, in_flight: int | None
    ) -> Iterator[Answer[Any] | Failure]:
        for text in texts:
            yield text if isinstance(text, Failure) else answer({"kind": f"crew {text}"})

    def close(self) -> None:
        self.closed = True
        self.go.set()


def alone(texts: Iterable[str | Failure]) -> Iterator[Answer[Any] | Failure]:
    for text in texts:
        yield text if isinstance(text, Failure) else answer({"kind": f"alone {text}"})


def lazy(crew: FakeCrew, rows: int = 5) -> tuple[LazyCrew, list[FakeCrew]]:
    """One that starts `crew`, and what it has started."""
    made: list[FakeCrew] = []

    def make() -> Any:
        made.append(crew)
        return crew

    return LazyCrew(make, rows=rows), made


def who(
    crew: LazyCrew,
    count: int,
    task: Task = ADDRESS,
    options: Options | None = None,
    *,
    each: Callable[[int], None] = id,
) -> list[str]:
    """Who answered each of so many rows; `each` is called before the next is taken."""
    rows = crew.answers((str(number) for number in range(count)), task, options or {}, 64, alone=alone)
    found = []
    for number, row in enumerate(rows):
        assert isinstance(row, Answer)
        name, _, text = row.value["kind"].partition(" ")
        assert text == str(number)
        found.append(name)
        each(number)
    return found


def test_a_short_stream_starts_nothing() -> None:
    crew, made = lazy(FakeCrew())
    assert who(crew, 5) == ["alone"] * 5
    assert not made
    crew.close()


def test_a_long_one_goes_over_when_the_crew_is_ready() -> None:
    fake = FakeCrew(ready=False)
    crew, made = lazy(fake)

    def each(number: int) -> None:
        if number == 8:
            fake.go.set()
            assert crew.wait(10)

    assert who(crew, 20, each=each) == ["alone"] * 9 + ["crew"] * 11
    assert len(made) == 1
    assert who(crew, 2) == ["crew"] * 2
    crew.close()
    assert fake.closed


def test_another_task_is_learned_first() -> None:
    task = classification(["a", "b"])
    crew, _ = lazy(FakeCrew())
    crew.wait()
    assert who(crew, 3, task) == ["alone"] * 3
    assert who(crew, 10, task) == ["alone"] * 2 + ["crew"] * 8
    assert who(crew, 2, task) == ["crew"] * 2
    assert who(crew, 2, AGNEWS) == ["crew"] * 2
    crew.close()


def test_failures_stay_where_they_are() -> None:
    crew, _ = lazy(FakeCrew())
    crew.wait()
    failure = Failure("bad", "line")
    assert list(crew.answers([failure], AGNEWS, {}, 64, alone=alone)) == [failure]
    crew.close()


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (ADDRESS, {"prediction": "{}"}),
        (replace(ADDRESS, grounded=MappingProxyType({})), {}),  # cannot be pickled
    ],
)
def test_what_cannot_be_sent_is_answered_here(task: Task, options: Options) -> None:
    crew, _ = lazy(FakeCrew())
    crew.wait()
    assert who(crew, 10, task, options) == ["alone"] * 10
    crew.close()


class Kind(BaseModel):
    kind: str


class Refusing(BaseModel):
    kind: Literal["x"]


def test_values_are_of_the_callers_class() -> None:
    crew, _ = lazy(FakeCrew(), rows=0)
    crew.wait()
    [found] = crew.answers(["a"], extraction(Kind), {}, 64, alone=alone)
    assert isinstance(found, Answer)
    assert found.value == Kind(kind="crew a")
    [refused] = crew.answers(["a"], extraction(Refusing), {}, 64, alone=alone)
    assert isinstance(refused, Failure)
    assert refused.code == "invalid_answer"
    crew.close()


def test_a_source_that_is_slow_is_known_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    crew, _ = lazy(FakeCrew())
    asked: list[bool] = []

    def watching(texts: Iterable[str | Failure]) -> Iterator[Answer[Any] | Failure]:
        asked.append(texts.would_block())  # type: ignore[attr-defined]
        yield from alone(texts)

    more = threading.Event()

    def slow() -> Iterator[str]:
        assert more.wait(10)
        yield "a"

    rows = crew.answers(ReadAhead(slow()), AGNEWS, {}, 64, alone=watching)
    threading.Timer(0.1, more.set).start()
    assert len(list(rows)) == 1
    assert asked == [True]
    crew.close()


def test_one_that_does_not_start(caplog: pytest.LogCaptureFixture) -> None:
    def make() -> Any:
        raise EngineError("no processes here")

    crew = LazyCrew(make, rows=2)
    assert not crew.wait()
    assert who(crew, 10) == ["alone"] * 10
    crew.close()
    assert "without worker processes: no processes here" in caplog.text


def test_one_that_broke_is_used_no_more() -> None:
    fake = FakeCrew()
    crew, made = lazy(fake)
    crew.wait()
    fake.broken = True
    assert who(crew, 10) == ["alone"] * 10
    assert len(made) == 1
    crew.close()


def test_closing_while_it_starts(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeCrew(ready=False)
    crew, _ = lazy(fake)
    crew.start()
    time.sleep(0.05)
    crew.close()
    crew.close()
    assert fake.closed
    assert not crew.ready
    assert not caplog.text
    assert not crew.wait()
    assert who(crew, 10) == ["alone"] * 10
