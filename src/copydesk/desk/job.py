"""One request on its way: everything that is settled before a token is written, and its answer afterwards.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from copydesk.desk.answer import fields, parsed
from copydesk.desk.calibration import WHOLE, Calibration
from copydesk.desk.canonical import Canonical
from copydesk.desk.choice import Choice
from copydesk.desk.choosing import Choosing
from copydesk.desk.closing import Closing
from copydesk.desk.drafting import Drafting
from copydesk.desk.drafts import Drafts
from copydesk.desk.grammar import Grammar
from copydesk.desk.grounded import GroundedGrammar
from copydesk.desk.prompt import Prompt
from copydesk.desk.request import Request
from copydesk.desk.scheduler import Effort
from copydesk.desk.writer import Writer, Written
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.types import Answer, Usage


@dataclass(slots=True)
class AnswerJob:
    """Satisfies the scheduler's `Job`."""

    request: Request
    text: str
    """What is read of the request's text."""
    text_tokens: list[int]
    prompt: Prompt
    grammar: Grammar | GroundedGrammar | Choice
    shortest: tuple[int, ...]
    room: int
    canonical: Canonical
    closing: Closing
    calibration: Calibration
    drafting: Drafting | None
    drafts: Drafts | None
    future: Future[Answer[Any]]
    engine_name: str
    model_name: str
    started: float
    """`time.perf_counter()` when it was asked for."""

    @property
    def prefix(self) -> tuple[int, ...]:
        """How the prompt begins."""
        return self.prompt.prefix

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Written]:
        """Write the answer in a sequence that already holds `held` tokens of the prompt."""
        if self.drafts:
            self.drafts.others = others
        prompt = [*self.prompt.prefix, *self.text_tokens, *self.prompt.suffix]
        return Writer(
            self.grammar.start(),
            prompt[held:],
            self.room,
            self.shortest,
            engine=engine,
            sequence=sequence,
            canonical=self.canonical,
            closing=self.closing,
            choosing=Choosing(self.request.temperature, self.request.seed),
            drafts=self.drafts,
        ).run()

    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self.future.cancelled()

    def finish(self, written: Written, effort: Effort) -> None:
        """Hand over the answer."""
        if self.future.set_running_or_notify_cancel():
            answer = self._answer(written, effort)
            self.future.set_result(answer)
            self._learn(written, answer.ms / 1e3)

    def fail(self, error: Exception) -> None:
        """Hand over the reason why there is none; who waits for a cancelled answer is told that it is over."""
        if self.future.running() or self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def _answer(self, written: Written, effort: Effort) -> Answer[Any]:
        pieces = [self.canonical.text((token,)) for token in written.tokens]
        value: Any
        labels: dict[str, float] = {}
        found = {}
        calibrated = partial(self.calibration.confidence, self.request.task)
        if isinstance(self.grammar, Choice):
            value = self.grammar.label(written.tokens)
            labels = self.grammar.probabilities(written.listed)
        else:
            text = b"".join(pieces).decode()
            value = parsed(text)
            found = fields(text, pieces, written.probabilities, self.text, calibrated, written.drafted)
        opened = len(written.probabilities)
        drafted_by = self.drafts.source if self.drafts else None
        prompt_tokens = len(self.prompt.prefix) + len(self.text_tokens) + len(self.prompt.suffix)
        return Answer(
            value=value,
            fields=found,
            confidence=calibrated(WHOLE, math.prod(written.probabilities.values())),
            verified=True,
            draft=drafted_by,
            accepted=None if drafted_by is None else written.kept / opened,
            passes=effort.passes,
            model=self.model_name,
            engine=self.engine_name,
            usage=Usage(prompt_tokens, effort.cached_tokens, sum(map(bool, pieces))),
            ms=(time.perf_counter() - self.started) * 1e3,
            truncated=len(self.text) < len(self.request.text),
            labels=labels,
        )

    def _learn(self, written: Written, seconds: float) -> None:
        """Let the drafters know of the answer, if it is what the model thinks best."""
        if self.drafting is None:
            return
        self.drafting.answered(seconds)
        ended_early = 0.0 in written.probabilities.values()
        if not isinstance(self.grammar, Choice) and self.request.temperature == 0.0 and not ended_early:
            self.drafting.verified(self.request.task, self.text, self.canonical.text(written.tokens).decode())
