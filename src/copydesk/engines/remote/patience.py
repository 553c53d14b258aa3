"""How long is waited for a server, and when it is asked again.

Knows nothing of HTTP but its status numbers and the form of `Retry-After`.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may well succeed: too many requests, or nobody there just now."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. A request is sent at most `attempts` times."""

    connect: float = 10.0
    """Until a connection stands."""
    request: float = 300.0
    """For one answer; of a stream, for each of its pieces."""
    total: float = 600.0
    """For all attempts at one answer together, the waiting between them included."""
    attempts: int = 6
    first_wait: float = 0.5
    """Before the second attempt; twice as long before each further one, at random up to half less."""
    longest_wait: float = 30.0

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt, the first being number 1; `asked` is what the server asks for."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        # Not all clients at the same moment, also where the server told all of them the same.
        return random.uniform(longest / 2.0, longest) if asked is None else asked + random.uniform(0.0, longest / 2.0)


def asked_wait(retry_after: str | None) -> float | None:
    """The seconds that a `Retry-After` asks to wait, which it gives as a number or a date; None if it does not."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
