"""What is told of requests to whoever counts them.

Knows nothing of what is counted. No text, body or key is ever part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from copydesk.types import Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """How a request ended. A request for several answers adds up their tokens and passes."""

    request: str
    """The request's id."""
    method: str
    route: str
    """The path as the routes name it, such as `/v1/models/{model}`; `unmatched` for any that is none."""
    status: int
    """The answer's HTTP status; 499 where the client hung up first."""
    outcome: str
    """`ok`, `cancelled` (the client hung up), or the error's code."""
    seconds: float
    """From the end of the headers to the last byte handed over."""
    client: str | None = None
    """The address it came from."""
    model: str | None = None
    """The name the caller gave, once it is known to be one."""
    caller: str | None = None
    first_token_seconds: float | None = None
    """To the first text handed over; streams only."""
    usage: Usage | None = None
    answers: int = 0
    passes: int = 0
    accepted: float | None = None
    """Mean share of drafted tokens that stood, over the answers that were drafted."""
    source: str | None = None
    """Who drafted the answer, or wrote it where no model verified it."""
    verified: bool = True


class Observer(Protocol):
    """Counts requests. Called from the event loop; must not block."""

    def request_started(self, route: str) -> None:
        """The headers of a request are there."""

    def request_finished(self, finished: Finished) -> None:
        """It is answered, or the client has hung up. Called once for each that was started."""
