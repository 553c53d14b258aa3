"""One extraction on its way: everything that is settled before a token is written, and its answer afterwards.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from copydesk.desk.answer import fields, parsed
from copydesk.desk.calibration import WHOLE
from copydesk.desk.canonical import Canonical
from copydesk.desk.choosing import Choosing
from copydesk.desk.closing import Closing
from copydesk.desk.drafts import Drafts
from copydesk.desk.grammar import Grammar
from copydesk.desk.grounded import GroundedGrammar
from copydesk.desk.pending import Pending
from copydesk.desk.scheduler import Effort
from copydesk.desk.writer import Writer, Written
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.types import Answer


@dataclass(slots=True, kw_only=True)
class AnswerJob(Pending):
    """Satisfies the scheduler's `Job`."""

    grammar: Grammar | GroundedGrammar
    shortest: tuple[int, ...]
    room: int
    canonical: Canonical
    closing: Closing
    drafts: Drafts | None

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Written]:
        """Write the answer in a sequence that already holds `held` tokens of the prompt."""
        if self.drafts:
            self.drafts.others = others
        return Writer(
            self.grammar.start(),
            self.unread(held),
            self.room,
            self.shortest,
            engine=engine,
            sequence=sequence,
            canonical=self.canonical,
            closing=self.closing,
            choosing=Choosing(self.request.temperature, self.request.seed),
            drafts=self.drafts,
        ).run()

    def finish(self, written: Written, effort: Effort) -> None:
        """Hand over the answer."""
        if self.future.set_running_or_notify_cancel():
            self.hand_over(self._answer(written, effort))
            self._learn(written)

    def _answer(self, written: Written, effort: Effort) -> Answer[Any]:
        pieces = self.canonical.pieces(written.tokens)
        text = b"".join(pieces).decode()
        drafted_by = self.drafts.source if self.drafts else None
        return Answer(
            value=parsed(text),
            fields=fields(text, pieces, written.probabilities, self.text, self.confidence, written.drafted),
            confidence=self.confidence(WHOLE, math.prod(written.probabilities.values())),
            verified=True,
            draft=drafted_by,
            accepted=None if drafted_by is None else written.kept / len(written.probabilities),
            passes=effort.passes,
            model=self.model_name,
            engine=self.engine_name,
            usage=self.usage(effort, sum(map(bool, pieces))),
            ms=self.elapsed(),
            truncated=self.truncated,
        )

    def _learn(self, written: Written) -> None:
        """Let the drafters know of the answer, if it is what the model thinks best."""
        ended_early = 0.0 in written.probabilities.values()
        if self.drafting and self.request.temperature == 0.0 and not ended_early:
            self.drafting.verified(self.request.task, self.text, self.canonical.text(written.tokens).decode())
