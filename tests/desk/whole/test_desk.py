"""The desk over whole answers, as a model holds it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from copydesk import Model
from copydesk.desk.drafting import Drafting
from copydesk.desk.whole import WholeDesk
from copydesk.drafting.controller import Controller
from copydesk.drafting.drafters import Drafters
from copydesk.engines.completions import Asked, Completion
from copydesk.engines.loop import Loop
from copydesk.errors import AnswerError, EngineError, SchemaError, TextError, UsageError
from copydesk.tasks.prompt import conversation
from copydesk.types import Answer, Delta, Failure
from desk.whole.fake_completions import FakeCompletions, Verifying, Write, written
from waiting import until

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
Make = Callable[..., tuple[Model, FakeCompletions]]


def echo(asked: Asked) -> Completion:
    """The text as the name, as a label, or as a reply."""
    text = asked.messages[-1]["content"]
    if asked.constraint.schema is not None:
        return written(f'{{"name": "{text}"}}')
    return written(asked.constraint.choice[0] if asked.constraint.choice else text)


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Model] = []

    def model(write: Write, most_top: int = 0) -> tuple[Model, FakeCompletions]:
        engine = FakeCompletions(write, most_top=most_top)
        made.append(Model(WholeDesk(engine, Loop(), conversation)))
        return made[-1], engine

    yield model
    for one in made:
        one.close()


def test_a_model_over_it(make: Make) -> None:
    model, engine = make(echo)
    assert (model.name, model.engine) == ("fake-model", "fake")
    assert model.extract("a", PERSON).value == {"name": "a"}
    assert model.classify("a", ["x", "y"]).value == "x"
    assert model.chat("Hello").content == "Hello"
    assert list(model.chat_stream("Hi")) == [Delta("H"), Delta("i")]
    model.close()
    model.close()
    assert engine.closed == 1
    with pytest.raises(UsageError, match="closed"):
        model.extract("a", PERSON)


def test_many_at_once_in_order(make: Make) -> None:
    model, _ = make(echo)
    answers = list(model.extract_many(["a", "", "b"], PERSON))
    assert [answer.value if isinstance(answer, Answer) else answer.code for answer in answers] == [
        {"name": "a"},
        "empty_text",
        {"name": "b"},
    ]


def test_a_row_that_fails_stands_in_its_place(make: Make) -> None:
    model, _ = make(lambda asked: written("{") if asked.messages[-1]["content"] == "b" else echo(asked))
    first, second, third = model.extract_many(["a", "b", "c"], PERSON)
    assert isinstance(first, Answer)
    assert isinstance(second, Failure)
    assert second.code == "invalid_answer"
    assert isinstance(third, Answer)


def test_errors_come_by_the_answer(make: Make) -> None:
    model, engine = make(echo)
    for text, schema, error in (("", PERSON, TextError), ("a\0", PERSON, TextError), ("a", {"type": "x"}, SchemaError)):
        with pytest.raises(error):
            model.extract(text, schema)
    assert engine.asked == []
    failing, _ = make(lambda asked: EngineError("it is gone"))
    for call in (lambda: failing.extract("a", PERSON), lambda: failing.chat("a"), lambda: failing.classify("a")):
        with pytest.raises(EngineError, match="it is gone"):
            call()
    refusing, _ = make(lambda asked: written("{"))
    with pytest.raises(AnswerError):
        refusing.extract("a", PERSON)


def test_cancelling_a_reply_stops_the_work(make: Make) -> None:
    model, engine = make(lambda asked: written("x" * 100_000))
    stream = model.chat_stream("Hi")
    next(stream)
    stream.cancel()
    until(lambda: engine.cancelled > 0)
    with pytest.raises(CancelledError):
        _ = stream.reply


def test_dropping_a_reply_stops_the_work(make: Make) -> None:
    model, engine = make(lambda asked: written("x" * 100_000))
    stream = model.chat_stream("Hi")
    next(stream)
    del stream
    gc.collect()
    until(lambda: engine.cancelled > 0)


def test_closing_ends_what_is_in_progress(make: Make) -> None:
    model, _ = make(lambda asked: written("x" * 1_000_000))
    stream = model.chat_stream("Hi")
    next(stream)
    model.close()
    with pytest.raises(UsageError, match="closed before the answer"):
        _ = stream.reply


def test_threads_share_it(make: Make) -> None:
    model, _ = make(echo)
    found: list[str] = []

    def ask(number: int) -> None:
        found.append(model.extract(str(number), PERSON).value["name"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=int) == [str(number) for number in range(16)]


def test_a_schema_is_looked_into_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = make(echo)
    model.extract("a", PERSON)
    monkeypatch.setattr("copydesk.desk.whole.desk.Shape", None)
    assert model.extract("b", dict(PERSON)).value == {"name": "b"}


def test_drafters_are_closed_with_it_or_where_they_are_of_no_use() -> None:
    engines = FakeCompletions(echo), Verifying(lambda asked: "")
    closed: list[list[str]] = [[], []]
    for engine, log in zip(engines, closed, strict=True):
        drafting = Drafting(Drafters(Controller()), Controller())
        drafting.close = lambda log=log: log.append("closed")  # type: ignore[method-assign, misc]
        desk = WholeDesk(engine, Loop(), conversation, drafting)
        assert log == ([] if engine.verifies else ["closed"])
        desk.close()
    assert closed == [["closed"], ["closed"]]
