"""One classification on its way: its labels are scored, none is written.

Two engine calls at most: one that reads the prompt, and one for labels that it does not tell apart. After them nothing
of the text is kept. Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass

from copydesk.desk.calibration import WHOLE
from copydesk.desk.label_scores import LabelScores, choose, mass, shares
from copydesk.desk.pending import Pending
from copydesk.desk.scheduler import Asked, Effort
from copydesk.engines.protocol import Engine, Scores
from copydesk.types import Answer


@dataclass(slots=True, kw_only=True)
class LabelJob(Pending):
    """Satisfies the scheduler's `Job`."""

    scores: LabelScores

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Asked, list[Scores], list[float]]:
        """Each label's log-probability, in a sequence that already holds `held` tokens of the prompt."""
        scores = yield self.scores.read(sequence, self.unread(held))
        if self.scores.branches:
            scores += yield self.scores.branches
        return self.scores.logprobs(scores)

    def finish(self, written: list[float], effort: Effort) -> None:
        """Hand over the answer, given the labels' log-probabilities."""
        if self.future.set_running_or_notify_cancel():
            self.hand_over(self._answer(written, effort))

    def _answer(self, logprobs: list[float], effort: Effort) -> Answer[str | None]:
        best = choose(logprobs, self.request.temperature, self.request.seed)
        confidence = self.confidence(WHOLE, math.exp(min(0.0, logprobs[best])))
        least = self.request.abstain_below
        abstained = least is not None and confidence < least
        return Answer(
            value=None if abstained else self.scores.labels[best],
            fields={},
            confidence=confidence,
            verified=True,
            draft=None,
            accepted=None,
            passes=effort.passes,
            model=self.model_name,
            engine=self.engine_name,
            usage=self.usage(effort, self.scores.sizes[best]),
            ms=self.elapsed(),
            truncated=self.truncated,
            labels=dict(zip(self.scores.labels, shares(logprobs), strict=True)),
            label_mass=mass(logprobs),
            abstained=abstained,
        )
