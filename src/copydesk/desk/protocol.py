"""What a model needs of a desk, whether that runs an engine pass by pass or asks for whole completions.

Knows neither.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

from copydesk.desk.chat_request import ChatRequest
from copydesk.desk.reply_stream import ReplyStream
from copydesk.desk.request import Request
from copydesk.types import Answer


class AnyDesk(Protocol):
    """Answers requests, many at once. Safe to share between threads."""

    @property
    def engine(self) -> str:
        """The engine's name, as answers report it."""

    @property
    def model(self) -> str:
        """The model's name, as answers report it."""

    def submit(self, request: Request) -> Future[Answer[Any]]:
        """The answer to come: a dict (or what the schema describes) or a label. Cancelling it stops the work.

        Errors, raised by the future: `TextError` (`empty_text`, `invalid_text`, `too_long`), `SchemaError`,
        `LengthError`, `EngineError`.
        """

    def submit_chat(self, request: ChatRequest) -> ReplyStream:
        """The reply to come. Cancelling or dropping it stops the work.

        Errors, raised by the stream: as `submit`. `Reply.value` is plain JSON data, never an object of the caller's
        class.
        """

    def close(self) -> None:
        """Stop, and free what it holds. Answers in progress fail; closing again does nothing."""
