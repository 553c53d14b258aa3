"""A request that has been understood: what it costs about, and how a back end answers it.

Knows no HTTP. Each route makes plans of its requests; the endpoint carries them out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from copydesk.serving.backend import Backend
from copydesk.serving.exchange import Exchange

Outgoing = bytes | AsyncGenerator[bytes, None]
"""A whole JSON body, or the events of a stream, to be closed by whoever reads them."""


class Plan(Protocol):
    """Made before anything is queued: making it raises what is wrong with the request."""

    @property
    def model(self) -> str | None:
        """The name that the body gave."""

    @property
    def tokens(self) -> int:
        """About how many it reads and writes."""

    @property
    def param(self) -> str | None:
        """The field that says what an answer must be: whatever is wrong with a schema or label set is wrong there."""

    async def answer(self, backend: Backend, exchange: Exchange) -> Outgoing:
        """Have it answered. Errors: copydesk's own, and `ApiError`; a stream raises them before its first event too."""
