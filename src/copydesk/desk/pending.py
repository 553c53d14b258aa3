"""What every request on its way has, whatever is asked: its text and prompt, and somebody who waits for the answer.

Knows nothing of how answers are written or scored.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from copydesk.desk.calibration import Calibration
from copydesk.desk.drafting import Drafting
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort
from copydesk.types import Answer, Usage


@dataclass(slots=True, kw_only=True)
class Pending:
    """One request, with all that is settled before the engine reads anything."""

    request: Request
    text: str
    """What is read of the request's text."""
    text_tokens: list[int]
    prompt: Prompt
    calibration: Calibration
    drafting: Drafting | None
    future: Future[Answer[Any]]
    engine_name: str
    model_name: str
    started: float
    """`time.perf_counter()` when it was asked for."""

    @property
    def prefix(self) -> tuple[int, ...]:
        """How the prompt begins."""
        return self.prompt.prefix

    @property
    def conversation(self) -> tuple[int, ...]:
        """Nothing comes after an answer."""
        return ()

    @property
    def truncated(self) -> bool:
        """Whether some of the text was left out."""
        return len(self.text) < len(self.request.text)

    def unread(self, held: int) -> list[int]:
        """The tokens of the prompt after the first `held`."""
        return [*self.prompt.prefix, *self.text_tokens, *self.prompt.suffix][held:]

    def confidence(self, name: str, probability: float) -> float:
        """The confidence of a field, or of the whole answer, of which the model gives this probability."""
        return self.calibration.confidence(self.request.task, name, probability)

    def usage(self, effort: Effort, completion_tokens: int) -> Usage:
        """The tokens read and written."""
        return Usage(self.prompt.length + len(self.text_tokens), effort.cached_tokens, completion_tokens)

    def elapsed(self) -> float:
        """Milliseconds since it was asked for."""
        return (time.perf_counter() - self.started) * 1e3

    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self.future.cancelled()

    def hand_over(self, answer: Answer[Any]) -> None:
        """Give the answer to who waits for it."""
        self.future.set_result(answer)
        if self.drafting:
            self.drafting.answered(answer.ms / 1e3)

    def fail(self, error: Exception) -> None:
        """Hand over the reason why there is none; who waits for a cancelled answer is told that it is over."""
        if self.future.running() or self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)
