"""Who may ask, and how much at once: what the routes need of keys, quotas and the queue.

Knows nothing of how keys are kept or requests are counted; the modules that do satisfy these protocols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from copydesk.types import Usage


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by the name of the key; the key itself is nowhere kept."""

    name: str
    models: frozenset[str] | None = None
    """The models allowed; None allows all."""

    def may_use(self, model: str) -> bool:
        """Whether a model is among those allowed."""
        return self.models is None or model in self.models


class Admission(Protocol):
    """A place among the requests in progress; leaving it frees the place."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What the answer's headers say of the quota; empty where there is none."""

    def used(self, usage: Usage) -> None:
        """Tokens that were really used, in place of the estimate; may be called several times, which add up."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class Gate(Protocol):
    """Lets requests in."""

    def identify(self, authorization: str | None) -> Caller:
        """Who the header `Authorization` names. Errors: `ApiError` 401. Called before a body is read."""

    async def admit(self, caller: Caller, model: str, tokens: int) -> Admission:
        """A place for a request of an estimated number of tokens, waited for if need be; cancelling gives it up.

        Called with the name a caller may use. Errors: `ApiError` 403 (model not allowed), 429 (over a quota), 503
        (saturated); the last two with `retry_after`.
        """
