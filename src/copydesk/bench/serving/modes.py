"""How llama.cpp's server is run for each number of clients: in whichever of its modes it answers most.

Knows what is tried, not how it is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from copydesk.types import Json

_CLEARLY = 1.05
"""A mode of its own, for some number of clients, is used from so many times the requests of the most clients' mode."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How it is run."""

    slots: int
    """Sequences at once."""
    speculation: bool = False

    def __str__(self) -> str:
        return f"{self.slots} slots{', ngram-simple' if self.speculation else ''}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The mode for each number of clients, and what was tried."""

    modes: dict[int, Mode]
    tried: dict[Mode, dict[int, float]]
    """Requests a second by mode and clients."""

    def groups(self) -> dict[Mode, list[int]]:
        """The modes that are used, and with how many clients."""
        return {
            mode: [clients for clients, chosen in self.modes.items() if chosen == mode]
            for mode in dict.fromkeys(self.modes.values())
        }

    def to_dict(self) -> Json:
        return {
            "used": {str(mode): clients for mode, clients in self.groups().items()},
            "requests_per_second": {
                str(mode): {str(clients): round(rate, 2) for clients, rate in rates.items()}
                for mode, rates in self.tried.items()
            },
        }


def choose(
    slots: Sequence[int], clients: Sequence[int], measure: Callable[[Mode, Sequence[int]], dict[int, float]]
) -> Choice:
    """Try each number of slots, then speculation with the best; `measure` says the requests a second by clients."""
    tried = {mode: measure(mode, clients) for mode in map(Mode, slots)}
    most = max(clients)
    best = max(tried, key=lambda mode: tried[mode][most])
    speculative = Mode(best.slots, speculation=True)
    tried[speculative] = measure(speculative, clients)
    usual = max(tried, key=lambda mode: tried[mode][most])
    modes = {}
    for number in clients:
        own = max(tried, key=lambda mode: tried[mode][number])
        modes[number] = own if tried[own][number] > _CLEARLY * tried[usual][number] else usual
    return Choice(modes, tried)
