"""A model whose health a test commands: well, frozen, dead, slow, wrong; and a place to put its news."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any

from copydesk.errors import EngineError, TextError
from copydesk.serving.backend import ChatCall, CompletionCall, Replies
from copydesk.serving.life import Loaded
from copydesk.tasks.builtin import AGNEWS
from copydesk.types import Answer, Delta, Reply, Task, Usage

SURE = {"World": 0.01, "Sports": 0.01, "Business": 0.97, "Sci/Tech": 0.01}
LOST = {"World": 0.97, "Sports": 0.01, "Business": 0.01, "Sci/Tech": 0.01}


def answer(value: Any, labels: Mapping[str, float] | None = None) -> Answer[Any]:
    return Answer(value, {}, 0.9, True, None, None, 1, "fake", "fake", Usage(10, 5, 3), 1.0, labels=labels or {})


class FakeModel:
    """Satisfies `Backend`. `mood` decides how calls go, `moods` how those with certain texts do."""

    name = "fake"

    def __init__(self, mood: str = "well") -> None:
        self.mood = mood
        self.moods: dict[str, str] = {}
        self.calls: list[str] = []
        self.canaries = 0
        self.given_up = 0
        self.delay = 0.0
        self.value: Any = None
        self.closed = threading.Event()
        self.may_close = threading.Event()
        self.may_close.set()

    def load(self) -> Loaded:
        return Loaded(self, self.close)

    def close(self) -> None:
        self.may_close.wait(30)
        self.closed.set()

    async def extract(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[Any]:
        self.calls.append(text)
        await self._feel(self.moods.get(text, self.mood), text)
        return answer(self.value if self.value is not None else {"text": text})

    async def classify(self, text: str, task: Task, options: Mapping[str, Any]) -> Answer[str]:
        canary = task is AGNEWS and text.startswith("Stocks rallied")
        self.canaries += canary
        if not canary:
            self.calls.append(text)
        await self._feel(self.mood)
        labels = LOST if self.mood == "wrong" else SURE
        return answer(max(labels, key=lambda label: labels[label]), labels)

    async def chat(self, call: ChatCall) -> Replies:
        self.calls.append(call.messages[-1]["content"])
        if self.mood == "dead at once":
            raise EngineError("dead", code="engine_failed")
        return FakeReplies(self)

    async def complete(self, call: CompletionCall) -> Replies:
        self.calls.append(call.prompt)
        return FakeReplies(self)

    async def _feel(self, mood: str, text: str = "") -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        if mood == "frozen":
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up += 1
        if mood == "dead":
            raise EngineError("dead", code="engine_failed")
        if mood == "broken":
            raise ZeroDivisionError(text)
        if mood == "refusing":
            raise TextError("no such text", code="empty_text")


class FakeReplies:
    """A reply of three parts; moods: `frozen` and `dead` from the second on, or `... at first` before that."""

    def __init__(self, model: FakeModel) -> None:
        self._model = model
        self.cancelled = False

    async def __aiter__(self) -> AsyncIterator[Delta]:
        if self._model.mood.endswith(" at first"):
            await self._model._feel(self._model.mood.removesuffix(" at first"))
        yield Delta("one")
        for part in ("two", "three"):
            await self._model._feel(self._model.mood)
            yield Delta(part)

    @property
    def reply(self) -> Reply:
        return Reply("onetwothree", None, "stop", None, True, None, None, 3, "fake", "fake", Usage(1, 0, 3), 1.0)

    def cancel(self) -> None:
        self.cancelled = True
        self._model.given_up += 1


class News:
    """Satisfies `Notices`."""

    def __init__(self) -> None:
        self.up: list[bool] = []
        self.loads = 0

    def available(self, up: bool) -> None:
        self.up.append(up)

    def loaded(self) -> None:
        self.loads += 1


class Marks:
    """Satisfies `Tally`."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.service: list[bool] = []

    def attempted(self, outcome: str, seconds: float) -> None:
        assert seconds >= 0
        self.outcomes.append(outcome)

    def in_service(self, up: bool) -> None:
        self.service.append(up)
