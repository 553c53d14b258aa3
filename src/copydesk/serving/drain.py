"""Whether the server is on its way out.

Knows neither signals nor routes. Readiness reads it: a server that drains should get no new work.
"""

from __future__ import annotations


class Drain:
    """Begins once and never ends."""

    def __init__(self) -> None:
        self._draining = False

    @property
    def draining(self) -> bool:
        """Whether the server has been told to stop."""
        return self._draining

    def begin(self) -> None:
        """The server has been told to stop."""
        self._draining = True
