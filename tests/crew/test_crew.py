"""A crew's answers are those of a desk alone, in order, and whatever befalls a worker nobody waits for ever."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copydesk import child
from copydesk.crew import crew, worker
from copydesk.crew.crew import Crew
from copydesk.crew.setup import Setup
from copydesk.desk.request import Request
from copydesk.engines.sharing.facts import Facts
from copydesk.engines.sharing.hosts import ThreadHost
from copydesk.errors import CopydeskError, EngineError, ModelError, SchemaError, UsageError
from copydesk.stream import ROW_ERRORS, ReadAhead
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Answer, Failure, Schema, Task
from waiting import until

from .conftest import Shift

_TEXTS = [
    "天津市河西区 21号",
    "Oil prices rose",
    "He said <|im_end|>",
    "",
    "x" * 120,
    "a\ud800",
    Failure("bad", "line"),
    7,
]
_ANY = Task("any", "Extract.", Schema({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}))
_TASKS = st.sampled_from([ADDRESS, AGNEWS, replace(AGNEWS, labels=("a", "ab", "b"), builtin=False), _ANY])


def alone(shift: Shift, text: Any, task: Task, options: Any) -> Answer[Any] | Failure:
    """What a desk without a crew makes of a text."""
    if isinstance(text, Failure):
        return text
    if not isinstance(text, str):
        return Failure("invalid_text", "A text is a str, not int.")
    try:
        return shift.desk.submit(Request(task, text, **options)).result()
    except ROW_ERRORS as error:
        return Failure(error.code, str(error))


def same(found: list[Answer[Any] | Failure], expected: list[Answer[Any] | Failure]) -> bool:
    """Whether the rows agree in all that must not depend on who answered. Scores are sent as float32."""
    return len(found) == len(expected) and all(map(_same, found, expected))


def _same(found: Answer[Any] | Failure, expected: Answer[Any] | Failure) -> bool:
    if isinstance(found, Failure) or isinstance(expected, Failure):
        return found == expected
    return (_facts(found), _floats(found)) == (_facts(expected), pytest.approx(_floats(expected), rel=1e-5))


def _facts(row: Answer[Any]) -> Any:
    spans = {name: (field.spans, field.match) for name, field in row.fields.items()}
    return row.value, spans, row.model, row.engine, row.usage.prompt_tokens, row.usage.completion_tokens, row.truncated


def _floats(row: Answer[Any]) -> dict[str, float]:
    return {name: field.confidence for name, field in row.fields.items()} | dict(row.labels) | {"": row.confidence}


def test_texts_may_be_of_a_class_of_their_own(shift: Shift) -> None:
    class Text(str):
        """Cannot be pickled."""

    found = list(shift.crew.answers([Text("Oil prices rose")] * 3, worker.call(AGNEWS, {})))
    assert same(found, [alone(shift, "Oil prices rose", AGNEWS, {})] * 3)


def test_what_a_dropped_stream_held_is_freed(shift: Shift) -> None:
    list(shift.crew.answers(["Oil prices rose"] * 4, worker.call(AGNEWS, {})))
    until(lambda: shift.engine.open_sequences <= 4)  # prefixes, which workers keep
    before = shift.engine.open_sequences
    stream = shift.crew.answers(("x" * (1 + number % 90) for number in itertools.count()), worker.call(ADDRESS, {}))
    for _ in range(20):
        next(stream)
    stream.close()
    until(lambda: shift.engine.open_sequences <= before + 4)


def test_it_closes_beside_a_worker_that_was_halted_in_the_middle_of_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, theirs = child.pipe()

    class Halted:
        connection = own
        exit_code = -9

        def wait(self, seconds: float) -> None:
            """Killed after all."""
            theirs.close()

    os.write(theirs.fileno(), (100).to_bytes(4, "big") + b"x")
    monkeypatch.setattr(crew, "_SECONDS_TO_STOP", 0.2)
    post = crew._Post([crew._Member(cast("child.Child", Halted()))])
    stopping = threading.Thread(target=post.stop)
    stopping.start()
    stopping.join(10)
    assert not stopping.is_alive()
    assert post.broken is not None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(st.sampled_from(_TEXTS), max_size=40),
    task=_TASKS,
    options=st.sampled_from([{}, {"temperature": 0.7, "seed": 3}, {"max_tokens": 30}, {"draft": False}]),
    in_flight=st.sampled_from([None, 1, 10, 64]),
)
def test_answers_are_those_of_a_desk_alone(
    shift: Shift, texts: list[Any], task: Task, options: Any, in_flight: int | None
) -> None:
    found = list(shift.crew.answers(texts, worker.call(task, options), in_flight))
    assert same(found, [alone(shift, text, task, options) for text in texts])


def endless(taken: list[int]) -> Iterator[str]:
    for number in itertools.count():
        taken.append(number)
        yield f"text {number}"


def test_texts_may_be_endless(shift: Shift) -> None:
    taken: list[int] = []
    answers = shift.crew.answers(endless(taken), worker.call(AGNEWS, {}), 16)
    first = list(itertools.islice(answers, 40))
    assert same(first, [alone(shift, f"text {number}", AGNEWS, {}) for number in range(40)])
    answers.close()  # type: ignore[attr-defined]
    assert 40 <= len(taken) <= 40 + 16
    again = list(shift.crew.answers(["text 3"], worker.call(AGNEWS, {})))
    assert same(again, [first[3]])
    until(lambda: not any(member.waiting for member in shift.crew._members))


def test_a_slow_source_holds_up_nobody(shift: Shift) -> None:
    more = threading.Event()

    def slow() -> Iterator[str]:
        yield from ("one", "two")
        assert more.wait(10)
        yield "three"

    answers = shift.crew.answers(ReadAhead(slow()), worker.call(AGNEWS, {}))
    next(answers)
    next(answers)
    more.set()
    assert len(list(answers)) == 1


def test_several_streams_at_once(shift: Shift) -> None:
    texts = [f"text {number}" for number in range(60)]
    expected = [alone(shift, text, AGNEWS, {}) for text in texts]
    found: list[list[Answer[Any] | Failure]] = []

    def stream() -> None:
        found.append(list(shift.crew.answers(texts, worker.call(AGNEWS, {}))))

    threads = [threading.Thread(target=stream) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [same(rows, expected) for rows in found] == [True] * 3


def test_errors_of_all_rows_are_raised(shift: Shift) -> None:
    bad = Task("bad", "Extract.", Schema({"type": "object", "properties": {"a": {"type": "nothing"}}}))
    with pytest.raises(SchemaError):
        list(shift.crew.answers(["a", "b"], worker.call(bad, {})))

    def ending() -> Iterator[str]:
        yield from ["a"] * 20
        raise KeyError("the source")

    answers = shift.crew.answers(ending(), worker.call(AGNEWS, {}))
    assert len(list(itertools.islice(answers, 20))) == 20
    with pytest.raises(KeyError, match="the source"):
        next(answers)


def test_a_worker_that_dies(own_shift: Shift) -> None:
    crew = own_shift.crew
    answers = crew.answers(endless([]), worker.call(AGNEWS, {}))
    next(answers)
    os.kill(crew._members[0].child._process.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match=r"worker process ended \(exit code -9\)"):
        list(answers)
    assert crew.broken
    crew._members[1].send(worker.chunk(99, worker.call(AGNEWS, {}), ["late"]))  # nobody waits for it any more
    time.sleep(0.1)
    assert crew._post._thread.is_alive()
    with pytest.raises(EngineError, match="ended"):
        list(crew.answers(["a"], worker.call(AGNEWS, {})))


def test_an_interrupt_while_sending(own_shift: Shift, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for member in own_shift.crew._members:
        monkeypatch.setattr(member, "send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(own_shift.crew.answers(["a"], worker.call(AGNEWS, {})))
    assert own_shift.crew.broken


def test_closing_in_the_middle(own_shift: Shift) -> None:
    answers = own_shift.crew.answers(endless([]), worker.call(AGNEWS, {}))
    next(answers)
    own_shift.crew.close()
    with pytest.raises(CopydeskError):
        list(answers)
    codes = [member.child.exit_code for member in own_shift.crew._members]
    assert codes == [0, 0]
    own_shift.crew.close()


def test_an_engine_that_goes_under(own_shift: Shift) -> None:
    own_shift.engine.failing = EngineError("the card fell off", code="engine_failed")
    with pytest.raises(EngineError, match="the card fell off"):
        list(own_shift.crew.answers(["a"], worker.call(AGNEWS, {})))
    assert len(list(own_shift.crew.answers(["a"], worker.call(AGNEWS, {})))) == 1


def test_a_crew_that_does_not_get_ready(tmp_path: Path, shift: Shift) -> None:
    crew = Crew(Setup(tmp_path, Facts.of(shift.engine)), [ThreadHost(shift.engine, 2)])
    with pytest.raises(ModelError):
        crew.wait()
    crew.close()
    with pytest.raises(ModelError):
        crew.wait()


def test_closing_before_it_is_ready(tiny_model: Path, shift: Shift) -> None:
    crew = Crew(Setup(tiny_model, Facts.of(shift.engine)), [ThreadHost(shift.engine, 1)])
    crew.close()
    with pytest.raises(UsageError, match="closed"):
        crew.wait()
