"""Answers by another copydesk, which are checked all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from copydesk.desk.request import Request
from copydesk.desk.whole import WholeDesk
from copydesk.desk.whole.elsewhere import answer_elsewhere
from copydesk.desk.whole.shape import Shape
from copydesk.engines.loop import Loop
from copydesk.errors import AnswerError
from copydesk.tasks.prompt import conversation
from copydesk.tasks.task import classification, extraction, is_derived
from copydesk.types import Answer, Task, Usage
from desk.whole.fake_completions import FakeCompletions, written

SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "grounded": True}}, "required": ["a"]}
TASK, LABELS = extraction(SCHEMA), classification(["yes", "no"])


class Copydesk(FakeCompletions):
    """Another copydesk, which answers `value`."""

    def __init__(self, value: Any, **changes: Any) -> None:
        super().__init__(lambda asked: written('{"a": "text"}'))
        self._value, self._changes = value, changes
        self.tasks: list[tuple[Task, str, Mapping[str, Any]]] = []

    async def answer(self, task: Task, text: str, options: Mapping[str, Any]) -> Answer[Any]:
        self.tasks.append((task, text, options))
        usage = Usage(1, 0, 1)
        return Answer(self._value, {}, 0.9, True, "rules", 1.0, 1, "m", "http://far", usage, 0.1, **self._changes)


def ask(engine: Copydesk, request: Request) -> Answer[Any]:
    shape = None if request.task.schema is None else Shape(SCHEMA, {})
    return asyncio.run(answer_elsewhere(engine, request, shape, 0.0))


def test_an_extraction() -> None:
    engine = Copydesk({"a": "text"})
    answer = ask(engine, Request(TASK, "some text", draft=False, prediction="x", max_tokens=9, truncate=True))
    assert (answer.value, answer.draft, answer.passes, answer.engine) == ({"a": "text"}, "rules", 1, "http://far")
    assert answer.ms > 0.1
    assert engine.tasks == [
        (
            TASK,
            "some text",
            {
                "temperature": 0.0,
                "seed": 0,
                "truncate": True,
                "max_tokens": 9,
                "draft": False,
                "prediction": "x",
            },
        )
    ]


def test_a_label() -> None:
    engine = Copydesk("yes")
    assert ask(engine, Request(LABELS, "text", abstain_below=0.5)).value == "yes"
    assert engine.tasks[0][2] == {"temperature": 0.0, "seed": 0, "truncate": False, "abstain_below": 0.5}
    assert ask(Copydesk(None, abstained=True), Request(LABELS, "text")).value is None


@pytest.mark.parametrize(
    ("value", "request_", "says"),
    [
        ({"a": 5}, Request(TASK, "text"), r"at \$\.a"),
        ({"a": "other"}, Request(TASK, "text"), "'other' does not stand in the text"),
        ("maybe", Request(LABELS, "text"), "none of the labels"),
        (None, Request(LABELS, "text"), "none of the labels"),
    ],
)
def test_what_is_no_answer_is_refused(value: Any, request_: Request, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        ask(Copydesk(value), request_)


def test_the_desk_asks_for_tasks_that_are_the_same_there() -> None:
    engine = Copydesk({"a": "text"})
    desk = WholeDesk(engine, Loop(), conversation, None, is_derived)
    assert desk.submit(Request(TASK, "some text")).result(5).draft == "rules"
    own = Task("mine", "Say it my way.", schema=TASK.schema)
    assert desk.submit(Request(own, "some text")).result(5).draft is None
    assert [task for task, _, _ in engine.tasks] == [TASK]
    desk.close()
