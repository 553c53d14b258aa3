"""A request on its way: what is learned of it while it is answered, and the account of it at the end.

Knows no HTTP and holds no text, body or key.
"""

from __future__ import annotations

import time
from typing import Any

from copydesk.serving.errors import ApiError
from copydesk.serving.events import Finished
from copydesk.serving.gate import Caller
from copydesk.types import Answer, Reply, Usage

UNMATCHED = "unmatched"


class Exchange:
    """Belongs to one request."""

    def __init__(self, request: str, method: str, route: str, client: str | None) -> None:
        """`request` is its id; `client` the address it came from."""
        self.request = request
        self.method = method
        self.client = client
        self.route = route
        self.caller: Caller | None = None
        self.model: str | None = None
        self.status = 0
        self.outcome = "ok"
        self.usage: Usage | None = None
        self.source: str | None = None
        self.verified = True
        self._started = time.perf_counter()
        self._first: float | None = None
        self._answers = 0
        self._passes = 0
        self._accepted: list[float] = []

    def wrote(self) -> None:
        """Text is on its way to the caller."""
        if self._first is None:
            self._first = time.perf_counter() - self._started

    def answered(self, answer: Answer[Any] | Reply) -> None:
        """Another answer is there."""
        self._answers += 1
        self._passes += answer.passes
        if answer.accepted is not None:
            self._accepted.append(answer.accepted)
        self.source = answer.draft or self.source
        self.verified &= answer.verified
        used, more = self.usage or Usage(0, 0, 0), answer.usage
        self.usage = Usage(
            used.prompt_tokens + more.prompt_tokens,
            used.cached_tokens + more.cached_tokens,
            used.completion_tokens + more.completion_tokens,
        )

    def failed(self, error: ApiError) -> None:
        """It is answered with an error."""
        self.outcome = error.code or str(error.status)

    def finished(self) -> Finished:
        """The account."""
        return Finished(
            request=self.request,
            method=self.method,
            route=self.route,
            status=self.status,
            outcome=self.outcome,
            seconds=time.perf_counter() - self._started,
            client=self.client,
            model=self.model,
            caller=self.caller.name if self.caller else None,
            first_token_seconds=self._first,
            usage=self.usage,
            answers=self._answers,
            passes=self._passes,
            accepted=sum(self._accepted) / len(self._accepted) if self._accepted else None,
            source=self.source,
            verified=self.verified,
        )
