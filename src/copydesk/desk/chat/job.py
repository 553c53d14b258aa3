"""One reply on its way: everything that is settled before a token is written, and the reply afterwards.

Knows nothing of threads or of other requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from copydesk.desk.answer import parsed
from copydesk.desk.chat.continuations import Continuations
from copydesk.desk.chat.ending import Ending
from copydesk.desk.chat.sampler import Sampler
from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.desk.chat.writer import Progress, ReplyWriter
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplySender
from copydesk.desk.scheduler import Effort
from copydesk.engines.protocol import Engine, Read, Scores
from copydesk.types import Reply, Usage


@dataclass(slots=True, kw_only=True)
class ReplyJob:
    """Satisfies the scheduler's `Job`."""

    request: ChatRequest
    prompt: tuple[int, ...]
    shared: int
    """How much of the prompt's beginning other conversations may share."""
    truncated: bool
    room: int
    reasons: bool
    """Whether the reply begins within reasoning."""
    vocabulary: ReplyVocabulary
    progress: Progress
    sampler: Sampler
    ending: Ending | None
    drafts: Continuations | None
    sender: ReplySender
    engine_name: str
    model_name: str
    started: float
    """`time.perf_counter()` when it was asked for."""

    @property
    def prefix(self) -> tuple[int, ...]:
        """How the prompt begins."""
        return self.prompt[: self.shared]

    @property
    def conversation(self) -> tuple[int, ...]:
        """All tokens so far, which the next turn may begin with; none where the end was put in."""
        return () if self.progress.cut_short else (*self.prompt, *self.progress.tokens)

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Read, list[Scores], Progress]:
        """Write the reply, or go on with one that had to make room, in a sequence that holds `held` of its tokens."""
        if self.drafts:
            self.drafts.others = others
        return ReplyWriter(
            self.progress,
            [*self.prompt, *self.progress.tokens][held:],
            self.room,
            engine=engine,
            sequence=sequence,
            vocabulary=self.vocabulary,
            sampler=self.sampler,
            emit=self.sender.put,
            ending=self.ending,
            drafts=self.drafts,
            logprobs=self.request.logprobs,
            top_logprobs=self.request.top_logprobs,
        ).run()

    def is_cancelled(self) -> bool:
        """Whether nobody waits for the reply any more."""
        return self.sender.cancelled

    def finish(self, written: Progress, effort: Effort) -> None:
        """Hand over the reply."""
        outgoing = written.outgoing
        drafted_by = self.drafts.source if self.drafts else None
        texts = (self.vocabulary.text(token) for token in written.tokens)
        self.sender.finish(
            Reply(
                content=outgoing.content,
                reasoning=outgoing.reasoning if self.reasons or written.state.reasoning else None,
                finish=written.finish,
                value=self._value(outgoing.content),
                verified=True,
                draft=drafted_by,
                accepted=None if drafted_by is None else written.kept / max(1, written.opened),
                passes=effort.passes,
                model=self.model_name,
                engine=self.engine_name,
                usage=Usage(len(self.prompt), effort.cached_tokens, sum(map(bool, texts))),
                ms=(time.perf_counter() - self.started) * 1e3,
                truncated=self.truncated,
                logprobs=tuple(outgoing.logprobs),
            )
        )

    def fail(self, error: Exception) -> None:
        """Hand over the reason why there is none."""
        self.sender.fail(error)

    def _value(self, content: str) -> Any:
        constraint = self.request.constraint
        return parsed(content) if constraint.schema is not None or constraint.json_object else None
