"""One comparison on a GPU: ours and each mode of the peer, in turns. Knows nothing of what is measured.

Every mode of the peer has one turn; from then on only its best one goes on: the others take time and change nothing.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from copydesk.bench.gpu_time import Spent
from copydesk.bench.report import Row
from copydesk.bench.spread import Spread, ratios
from copydesk.types import Json

OURS = "ours"


@dataclass(frozen=True, slots=True)
class Contest:
    """What is compared, and what would be enough."""

    name: str
    what: str
    unit: str
    wanted: float
    """The ratio to the peer's figure; without `against_peer`, the figure itself."""
    lower: bool
    """Whether a lower figure is better."""
    ours: Callable[[], float]
    peers: Mapping[str, Callable[[], float]]
    against_peer: bool = True

    def run(self, repeats: int) -> dict[str, list[float]]:
        """The figures of ours and of the peer's modes; only the best of these has all repeats."""
        ways = {OURS: self.ours, **self.peers}
        found: dict[str, list[float]] = {name: [] for name in ways}
        going_on = list(ways)
        for repeat in range(repeats):
            shift = repeat % len(going_on)
            for name in going_on[shift:] + going_on[:shift]:
                begun = time.monotonic()
                found[name].append(ways[name]())
                took = time.monotonic() - begun
                _tell(f"{self.what}, {name}: {found[name][-1]:.4g} {self.unit} ({took:.1f} s)")
            if repeat == 0 and self.peers:
                going_on = [OURS, self._best(found)]
        return found

    def row(self, found: Mapping[str, list[float]], limit: float, spent: Spent | None = None, **more: object) -> Row:
        """The row of the figures; `limit`, in their unit, is what the GPU could do at most."""
        mine, best = found[OURS], self._best(found) if self.peers else ""
        theirs = found[best] if best else None
        times = None if theirs is None else ratios(theirs, mine) if self.lower else ratios(mine, theirs)
        extra: Json = {
            "limit": limit,
            "modes": {name: Spread.of(figures).to_dict() for name, figures in found.items() if name != OURS},
            "times": times.to_dict() if times else None,
            "where": asdict(spent) if spent else None,
        }
        return Row(
            self.name,
            self.what,
            self.wanted,
            self.unit,
            Spread.of(mine),
            best,
            Spread.of(theirs) if theirs else None,
            times if self.against_peer else None,
            most=self.lower and not self.against_peer,
            of_limit=self._share(mine, limit),
            peer_of_limit=self._share(theirs, limit) if theirs else None,
            more=extra | more,
        )

    def _best(self, found: Mapping[str, list[float]]) -> str:
        """The peer's mode that goes on, or went on: as it was in its first turn."""
        return (min if self.lower else max)(self.peers, key=lambda name: found[name][0])

    def _share(self, figures: list[float], limit: float) -> float:
        median = statistics.median(figures)
        return limit / median if self.lower else median / limit


def _tell(message: str) -> None:
    print(f"copydesk: {message}", file=sys.stderr, flush=True)
