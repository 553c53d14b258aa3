"""From a request for a reply to a job for the scheduler: prompt, room, constraint, sampling and drafts settled.

Safe to call from any thread. Knows nothing of how jobs are carried out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from copydesk.desk import source
from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.constraints import Compiled, Constraints
from copydesk.desk.chat.continuations import Continuations
from copydesk.desk.chat.conversation import Conversations, Rendered
from copydesk.desk.chat.ending import Ending
from copydesk.desk.chat.fitting import Fitting
from copydesk.desk.chat.job import ReplyJob
from copydesk.desk.chat.outgoing import Outgoing
from copydesk.desk.chat.sampler import Sampler
from copydesk.desk.chat.state import Course, ReplyState
from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.desk.chat.writer import Progress
from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.closing import Closing
from copydesk.desk.reply_stream import ReplySender
from copydesk.drafting.controller import Controller
from copydesk.engines.protocol import Engine
from copydesk.errors import LengthError, TextError

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_LEFT_FOR_REPLIES = 1024
"""Tokens of the context that a conversation may not fill, in a context of four times as many or more."""
_CONTENT_SHARE = 4
"""The share of a reply's room that reasoning may not fill: one part in so many."""


class Replies:
    """Makes the jobs of one engine."""

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        canonical: Canonical,
        closing: Closing,
        controller: Controller | None = None,
    ) -> None:
        """With a `controller`, replies are drafted."""
        self._engine = engine
        self._tokenizer = tokenizer
        self._controller = controller
        self._vocabulary = ReplyVocabulary(tokenizer, engine.vocab_size)
        self._constraints = Constraints(tokenizer, engine.vocab_size, canonical, closing)
        self._fitting = Fitting(Conversations(tokenizer), tokenizer)

    def job(self, request: ChatRequest, sender: ReplySender) -> ReplyJob:
        """The job that writes the reply into `sender`.

        Errors: `TextError` (`empty_text`, `invalid_text`, `too_long`), `SchemaError`, `LengthError`, `ModelError`.
        """
        started = time.perf_counter()
        text = _text(request)
        compiled = self._constraints.compiled(request.constraint, text, request.max_tokens)
        rendered, truncated = self._rendered(request, self._reserve(request, compiled))
        room = min(request.max_tokens, self._engine.context_length - len(rendered.tokens))
        course = self._course(request, rendered, compiled, room)
        return ReplyJob(
            request=request,
            prompt=rendered.tokens,
            shared=rendered.shared,
            truncated=truncated,
            room=room,
            reasons=rendered.reasons,
            vocabulary=self._vocabulary,
            progress=Progress(ReplyState(course), Outgoing(course.stop)),
            sampler=Sampler(request.sampling, rendered.tokens),
            ending=None if compiled is None else Ending(compiled.closing, room, compiled.shortest),
            drafts=self._drafts(request, rendered),
            sender=sender,
            engine_name=self._engine.name,
            model_name=self._engine.model,
            started=started,
        )

    def _rendered(self, request: ChatRequest, reserve: int) -> tuple[Rendered, bool]:
        most = self._engine.context_length - reserve
        if most < 1:
            raise LengthError(
                f"The shortest reply ({reserve} tokens) leaves no room for a conversation in the model's context of "
                f"{self._engine.context_length} tokens; ask for less, or load another model."
            )
        if request.prompt is not None:
            return self._fitting.text(request.prompt, most, truncate=request.truncate)
        return self._fitting.conversation(request.messages, most, thinking=request.thinking, truncate=request.truncate)

    def _reserve(self, request: ChatRequest, compiled: Compiled | None) -> int:
        """Tokens of the context kept for the reply."""
        usual = min(_LEFT_FOR_REPLIES, self._engine.context_length // 4)
        return max(self._least(compiled), min(usual, request.max_tokens))

    def _least(self, compiled: Compiled | None, rendered: Rendered | None = None) -> int:
        """Tokens of the shortest content, with what stands before it after reasoning."""
        least = compiled.shortest if compiled else 0
        if compiled and rendered and rendered.reasons:
            least += len(self._vocabulary.close) + len(rendered.separator)
        return least

    def _course(self, request: ChatRequest, rendered: Rendered, compiled: Compiled | None, room: int) -> Course:
        least = self._least(compiled, rendered)
        if compiled and least > room:
            raise LengthError(
                f"What the constraint requires takes {least} tokens at least, and the reply may have {room}; allow "
                "more (max_tokens), or require less."
            )
        return Course(
            vocabulary=self._vocabulary,
            grammar=compiled.grammar if compiled else None,
            stop=tuple(text.encode() for text in request.stop),
            reasons=rendered.reasons,
            may_reason=rendered.may_reason,
            most_reasoning=self._most_reasoning(room, least) if rendered.reasons else None,
            separator=rendered.separator,
        )

    def _most_reasoning(self, room: int, least: int) -> int | None:
        """Tokens after which reasoning ends, so that a share is left for the content; None where there is no room."""
        most = room - max(room // _CONTENT_SHARE, least, len(self._vocabulary.close) + 1)
        return most if most > 0 or least else None

    def _drafts(self, request: ChatRequest, rendered: Rendered) -> Continuations | None:
        if self._controller is None or not request.draft:
            return None
        guess = self._tokenizer.encode(request.prediction) if request.prediction else []
        key = "chat, sampled" if request.sampling.temperature else "chat"
        return Continuations(self._controller, key, rendered.tokens, guess)


def _text(request: ChatRequest) -> str:
    """All that was said. Errors: `TextError` for what is empty, or no text."""
    if request.prompt == "":
        raise TextError("The prompt is empty; give some text to go on from.", code="empty_text")
    texts = [request.prompt] if request.prompt is not None else [message["content"] for message in request.messages]
    text = "\n".join(texts)
    source.check(text if request.prompt is None else f"{text}.")  # a prompt may well be blank
    return text
