"""How llama.cpp's server is run for each number of clients: in whichever of its modes it answers most.

Knows what is tried, not how it is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from copydesk.types import Json

_CLEARLY = 1.05
"""A mode of its own, for some number of clients, is used from so many times the requests of the other's on."""
_MOST_TRIED = 2
"""Numbers of clients that modes are tried with; for more than those it is run as for the last of them."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How it is run."""

    slots: int
    """Sequences at once."""
    threads: int
    spins: bool = True
    """Whether its threads wait for one another in a loop, as is usual."""
    speculation: bool = False

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads{'' if self.spins else ' (passive)'}"
        return f"{self.slots} slots, {threads}{', ngram-simple' if self.speculation else ''}"


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
    threads: int,
    slots: Sequence[int],
    clients: Sequence[int],
    measure: Callable[[Mode, Sequence[int]], dict[int, float]],
) -> Choice:
    """Try ways to use so many threads, with the best of them numbers of slots, and with the best of those speculation.

    `measure` says the requests a second by clients; `clients` ascend.
    """
    few = clients[:_MOST_TRIED]
    tried: dict[Mode, dict[int, float]] = {}

    def best(modes: Iterable[Mode]) -> Mode:
        for mode in modes:
            if mode not in tried:
                tried[mode] = measure(mode, few)
        return max(tried, key=lambda mode: tried[mode][few[-1]])

    usual = Mode(slots[0], threads)
    found = best((usual, replace(usual, spins=False), replace(usual, threads=1)) if threads > 1 else (usual,))
    found = best(replace(found, slots=number) for number in slots)
    found = best((replace(found, speculation=True),))
    modes = dict.fromkeys(clients, found)
    for number in few:
        own = max(tried, key=lambda mode: tried[mode][number])
        if tried[own][number] > _CLEARLY * tried[found][number]:
            modes[number] = own
    return Choice(modes, tried)
